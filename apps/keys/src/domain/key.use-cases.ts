import { timingSafeEqual } from 'node:crypto';
import {
  type Cause,
  DEFAULT_REPORT_MAPPING,
  type KeyRole,
  type Labels,
  mintWorkspaceKey,
  type ReportMapping,
} from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { type KeyChange, type KeyStore, type KeyUse, MAX_ACTIVE_KEYS, type WorkspaceKey } from './workspace-key.ts';

export interface NewKey {
  /** 1–80 characters. */
  name: string;
  role: KeyRole;
  /** None by default. */
  labels?: Labels;
  /** The default one if left out. */
  reports?: ReportMapping;
}

/** A new key. Its text is only available now. */
export type CreatedKey = Omit<WorkspaceKey, 'lastUsedAt' | 'revokedAt'> & { apiKey: string };

export interface KeyUseCases {
  list(tenantId: TenantId): Promise<WorkspaceKey[]>;
  /** Rejects with `conflict` if the workspace has {@link MAX_ACTIVE_KEYS} valid keys. */
  create(tenantId: TenantId, key: NewKey, cause: Cause): Promise<CreatedKey>;
  /** Replaces what is in `change`. Rejects with `not_found`, or with `conflict` if the key is revoked. */
  update(tenantId: TenantId, keyId: string, change: KeyChange, cause: Cause): Promise<WorkspaceKey>;
  /** Revokes the key permanently. Revoking it again changes nothing. Rejects with `not_found`. */
  revoke(tenantId: TenantId, keyId: string, cause: Cause): Promise<void>;
  /**
   * The workspace of a key, and what callers need to know of it. Rejects with the same `not_found` if the key does not
   * exist, has another digest, or is revoked. Counts as a use of the key.
   */
  verify(
    keyId: string,
    sha256: Buffer,
  ): Promise<{ tenantId: TenantId } & Pick<WorkspaceKey, 'role' | 'labels' | 'reports'>>;
}

export interface KeyDeps {
  store: KeyStore;
  /** `isFirst`: no use is stored yet. The creator of the key is probably waiting to see the first one. */
  recordUse: (use: KeyUse, options: { isFirst: boolean }) => void;
  clock: Clock;
}

// Used as the digest of an unknown key, so that the check takes as long as for a wrong one.
const NO_DIGEST = Buffer.alloc(32);

export function createKeyUseCases({ store, recordUse, clock }: KeyDeps): KeyUseCases {
  return {
    list: (tenantId) => store.list(tenantId),

    async create(tenantId, { name, role, labels = {}, reports = DEFAULT_REPORT_MAPPING }, cause) {
      if ((await store.countActive(tenantId)) >= MAX_ACTIVE_KEYS) {
        throw new AppError(
          'conflict',
          `The workspace has ${MAX_ACTIVE_KEYS} valid keys. Revoke one that is not needed.`,
        );
      }
      const { id, apiKey, sha256 } = mintWorkspaceKey();
      const createdAt = new Date(clock());
      const key = { id, name, role, labels, reports, createdAt };
      await store.insert(tenantId, { ...key, lastUsedAt: null, revokedAt: null, sha256 }, cause);
      return { ...key, apiKey };
    },

    async update(tenantId, keyId, change, cause) {
      const key = await store.update(tenantId, keyId, change, cause);
      if (key === null) noSuchKey();
      if (key.revokedAt === null) return key;
      throw new AppError('conflict', 'This key is revoked and cannot change. Create a new key.');
    },

    async revoke(tenantId, keyId, cause) {
      if (!(await store.revoke(tenantId, keyId, new Date(clock()), cause))) noSuchKey();
    },

    async verify(keyId, sha256) {
      const proof = await store.findProof(keyId);
      const matches = timingSafeEqual(proof?.sha256 ?? NO_DIGEST, sha256);
      if (proof === null || !matches || proof.revoked) {
        throw new AppError('not_found', 'This workspace key is not valid.');
      }
      const { tenantId, role, labels, reports, isUsed } = proof;
      recordUse({ tenantId, keyId, usedAt: new Date(clock()) }, { isFirst: !isUsed });
      return { tenantId, role, labels, reports };
    },
  };
}

function noSuchKey(): never {
  throw new AppError('not_found', 'This workspace has no key with that id.');
}
