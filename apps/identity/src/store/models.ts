import type { Labels } from '@tollkeeper/contracts';
import { ROLES, type Role, type TenantId } from '@tollkeeper/kernel';
import { type Connection, Schema } from 'mongoose';
import type { MailOrder } from '../domain/mail.ts';
import { MEMBERSHIP_SOURCES, type MembershipSource } from '../domain/member.ts';
import { ORGANISATION_ROLES, type OrganisationRole } from '../domain/organisation.ts';
import type { Session } from '../domain/session.ts';
import type { User } from '../domain/user.ts';
import { createDeviceLoginModel } from './device-login.model.ts';
import { createOidcModels } from './oidc.models.ts';

export interface StoredUser extends Omit<User, 'id'> {
  _id: string;
  /** SHA-256 of workspace, issuer and account of a service account, in hex. */
  serviceAccountKey?: string;
  /**
   * Rises with every new session, so that a new session and a change of the password conflict. It is a counter, because
   * setting a field to its present value is not a write for MongoDB and conflicts with nothing.
   */
  sessionRevision: number;
  /** Rises with every new membership, so that concurrent ones conflict and are both counted. */
  membershipRevision: number;
}

export interface StoredSession extends Omit<Session, 'sha256'> {
  _id: string;
}

export interface StoredWorkspace {
  _id: TenantId;
  slug: string;
  name: string;
  timezone: string;
  /** Release 0.1.0 stored workspaces without it. */
  trackedLabels?: readonly string[];
  createdAt: Date;
  /** The organisation that it is in, if any. */
  organisationId?: string;
  /** Rises with every change of a membership, so that two changes conflict even if they concern different members. */
  memberRevision: number;
}

export interface StoredOrganisation {
  _id: string;
  name: string;
  createdAt: Date;
  members: { userId: string; role: OrganisationRole; joinedAt: Date }[];
  /** Rises with every change, and with every use of an owner's rights in a workspace, so that they conflict. */
  revision: number;
}

export interface StoredMember {
  tenantId: TenantId;
  userId: string;
  role: Role;
  joinedAt: Date;
  source: MembershipSource;
}

export interface StoredInvitation {
  _id: string;
  /** SHA-256 of the token, in hex. */
  tokenSha256: string;
  /** SHA-256 of the token that was mailed to the e-mail, and that nobody else knows. */
  mailedTokenSha256?: string;
  tenantId: TenantId;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

interface StoredPasswordReset {
  /** SHA-256 of the token, in hex. */
  _id: string;
  userId: string;
  mailedTo: string | null;
  expiresAt: Date;
}

interface StoredMail {
  _id: string;
  order: MailOrder;
  attempts: number;
  dueAt: Date;
  expiresAt: Date;
}

export interface StoredAgent {
  tenantId: TenantId;
  agentId: string;
  displayName: string;
  /** Release 0.1.0 stored agents without labels, and those of events still have none. */
  labels?: Labels;
  createdAt: Date;
}

interface StoredBootstrap {
  /** `first-owner`. */
  _id: string;
  /** Rises with every attempt to create the first owner, so that two attempts conflict, whoever the owners are. */
  attempts: number;
}

const text = { type: String, required: true } as const;
const date = { type: Date, required: true } as const;
const flag = { type: Boolean, required: true } as const;

const userSchema = new Schema<StoredUser>(
  {
    _id: text,
    loginName: text,
    name: text,
    email: { type: String, default: null },
    emailVerified: flag,
    passwordHash: { type: String, default: null },
    createdAt: date,
    sessionRevision: { type: Number, default: 0 },
    membershipRevision: { type: Number, default: 0 },
    serviceAccount: Schema.Types.Mixed,
    serviceAccountKey: String,
  },
  { collection: 'users', versionKey: false },
);
userSchema.index(
  { serviceAccountKey: 1 },
  { unique: true, partialFilterExpression: { serviceAccountKey: { $type: 'string' } } },
);
userSchema.index({ loginName: 1 }, { unique: true });
userSchema.index({ email: 1 });
userSchema.index(
  { email: 1, emailVerified: 1 },
  { unique: true, partialFilterExpression: { email: { $type: 'string' }, emailVerified: true } },
);

const sessionSchema = new Schema<StoredSession>(
  {
    _id: text,
    userId: text,
    createdAt: date,
    expiresAt: date,
    lastSeenAt: date,
    address: { type: String, default: '' },
    userAgent: { type: String, default: '' },
    subject: String,
  },
  { collection: 'sessions', versionKey: false },
);
sessionSchema.index({ userId: 1 });
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const workspaceSchema = new Schema<StoredWorkspace>(
  {
    _id: text,
    slug: text,
    name: text,
    timezone: text,
    trackedLabels: { type: [String], default: undefined },
    createdAt: date,
    organisationId: String,
    memberRevision: { type: Number, default: 0 },
  },
  { collection: 'workspaces', versionKey: false },
);
workspaceSchema.index({ slug: 1 }, { unique: true });
workspaceSchema.index({ organisationId: 1 }, { sparse: true });

const organisationSchema = new Schema<StoredOrganisation>(
  {
    _id: text,
    name: text,
    createdAt: date,
    members: [
      new Schema({ userId: text, role: { ...text, enum: ORGANISATION_ROLES }, joinedAt: date }, { _id: false }),
    ],
    revision: { type: Number, default: 0 },
  },
  { collection: 'organisations', versionKey: false },
);
organisationSchema.index({ 'members.userId': 1 });

const memberSchema = new Schema<StoredMember>(
  {
    tenantId: text,
    userId: text,
    role: { ...text, enum: ROLES },
    joinedAt: date,
    source: { ...text, enum: MEMBERSHIP_SOURCES },
  },
  { collection: 'members', versionKey: false },
);
memberSchema.index({ tenantId: 1, userId: 1 }, { unique: true });
memberSchema.index({ userId: 1 });

const invitationSchema = new Schema<StoredInvitation>(
  {
    _id: text,
    tokenSha256: text,
    mailedTokenSha256: String,
    tenantId: text,
    email: text,
    role: { ...text, enum: ROLES },
    invitedBy: text,
    createdAt: date,
    expiresAt: date,
  },
  { collection: 'invitations', versionKey: false },
);
invitationSchema.index({ tokenSha256: 1 }, { unique: true });
invitationSchema.index({ mailedTokenSha256: 1 }, { unique: true, sparse: true });
invitationSchema.index({ tenantId: 1, email: 1 }, { unique: true });
invitationSchema.index({ email: 1 });
invitationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const passwordResetSchema = new Schema<StoredPasswordReset>(
  { _id: text, userId: text, mailedTo: String, expiresAt: date },
  { collection: 'password_resets', versionKey: false },
);
passwordResetSchema.index({ userId: 1 });
passwordResetSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const mailSchema = new Schema<StoredMail>(
  {
    _id: text,
    order: { type: Schema.Types.Mixed, required: true },
    attempts: { type: Number, required: true },
    dueAt: date,
    expiresAt: date,
  },
  { collection: 'mails', versionKey: false },
);
mailSchema.index({ dueAt: 1 });
mailSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const agentSchema = new Schema<StoredAgent>(
  { tenantId: text, agentId: text, displayName: text, labels: Schema.Types.Mixed, createdAt: date },
  { collection: 'agents', versionKey: false },
);
agentSchema.index({ tenantId: 1, agentId: 1 }, { unique: true });

const bootstrapSchema = new Schema<StoredBootstrap>(
  { _id: text, attempts: { type: Number, default: 0 } },
  { collection: 'bootstraps', versionKey: false },
);

export type IdentityModels = ReturnType<typeof createModels>;

/** Registers the models on `connection`. Call it before the connection starts, which creates their indexes. */
export function createModels(connection: Connection) {
  return {
    connection,
    users: connection.model('User', userSchema),
    sessions: connection.model('Session', sessionSchema),
    workspaces: connection.model('Workspace', workspaceSchema),
    organisations: connection.model('Organisation', organisationSchema),
    members: connection.model('Member', memberSchema),
    invitations: connection.model('Invitation', invitationSchema),
    passwordResets: connection.model('PasswordReset', passwordResetSchema),
    mails: connection.model('Mail', mailSchema),
    agents: connection.model('Agent', agentSchema),
    bootstraps: connection.model('Bootstrap', bootstrapSchema),
    deviceLogins: createDeviceLoginModel(connection),
    oidc: createOidcModels(connection),
  };
}
