import { type Connection, Schema } from 'mongoose';
import type { FailedLogIn, LogInReport, PendingLink, Transaction } from '../domain/oidc/log-in.store.ts';
import type { Proof } from '../domain/oidc/oidc.client.ts';

interface StoredTransaction extends Omit<Transaction, 'proof'> {
  /** SHA-256 of the state, in hex. */
  _id: string;
  proof: Omit<Proof, 'state'>;
}

export interface StoredLink extends Omit<PendingLink, 'id'> {
  /** SHA-256 of the id, in hex. */
  _id: string;
}

interface StoredFailure extends Omit<FailedLogIn, 'id'> {
  /** SHA-256 of the id, in hex. */
  _id: string;
}

interface StoredUsedToken {
  /** SHA-256 of the signed part of the token, in hex. */
  _id: string;
  /** When the token is refused as too old in any case. */
  expiresAt: Date;
}

/** A person at a provider, and the linked user. */
interface StoredIdentity {
  /** SHA-256 of issuer and subject, in hex, because a subject may be too long for an index key. */
  _id: string;
  issuer: string;
  subject: string;
  userId: string;
  createdAt: Date;
  /** Missing until the log-in that created the identity has finished. */
  last?: Pick<LogInReport, 'providerId' | 'at' | 'report' | 'grants'>;
}

const text = { type: String, required: true } as const;
const date = { type: Date, required: true } as const;
const mixed = { type: Schema.Types.Mixed, required: true } as const;

const transactionSchema = new Schema<StoredTransaction>(
  { _id: text, providerId: text, proof: mixed, browserSha256: text, returnTo: text, expiresAt: date },
  { collection: 'oidc_transactions', versionKey: false },
);
const linkSchema = new Schema<StoredLink>(
  { _id: text, browserSha256: text, arrival: mixed, mayBeNew: { type: Boolean, required: true }, expiresAt: date },
  { collection: 'oidc_links', versionKey: false },
);
const failureSchema = new Schema<StoredFailure>(
  { _id: text, providerId: text, code: text, facts: Schema.Types.Mixed, expiresAt: date },
  { collection: 'oidc_failures', versionKey: false },
);
const usedTokenSchema = new Schema<StoredUsedToken>(
  { _id: text, expiresAt: date },
  { collection: 'oidc_used_tokens', versionKey: false },
);
for (const schema of [transactionSchema, linkSchema, failureSchema, usedTokenSchema]) {
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
}

const identitySchema = new Schema<StoredIdentity>(
  { _id: text, issuer: text, subject: text, userId: text, createdAt: date, last: Schema.Types.Mixed },
  { collection: 'oidc_identities', versionKey: false },
);
identitySchema.index({ userId: 1 });

export type OidcModels = ReturnType<typeof createOidcModels>;

/** The models of single sign-on, part of `createModels`. */
export function createOidcModels(connection: Connection) {
  return {
    transactions: connection.model('OidcTransaction', transactionSchema),
    pendingLinks: connection.model('OidcLink', linkSchema),
    failures: connection.model('OidcFailure', failureSchema),
    usedTokens: connection.model('OidcUsedToken', usedTokenSchema),
    identities: connection.model('OidcIdentity', identitySchema),
  };
}
