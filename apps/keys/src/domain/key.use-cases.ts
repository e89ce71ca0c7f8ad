import { timingSafeEqual } from 'node:crypto';
import { type Cause, type KeyRole, mintWorkspaceKey } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { type KeyStore, type KeyUse, MAX_ACTIVE_KEYS, type WorkspaceKey } from './workspace-key.ts';

export interface NewKey {
  /** 1–80 characters. */
  name: string;
  role: KeyRole;
}

/** A new key. Its text is only available now. */
export type CreatedKey = Pick<WorkspaceKey, 'id' | 'name' | 'role' | 'createdAt'> & { apiKey: string };

export interface KeyUseCases {
  list(tenantId: TenantId): Promise<WorkspaceKey[]>;
  /** Rejects with `conflict` if the workspace has {@link MAX_ACTIVE_KEYS} valid keys. */
  create(tenantId: TenantId, key: NewKey, cause: Cause): Promise<CreatedKey>;
  /** Revokes the key permanently. Revoking it again changes nothing. Rejects with `not_found`. */
  revoke(tenantId: TenantId, keyId: string, cause: Cause): Promise<void>;
  /**
   * The workspace and the role of a key. Rejects with the same `not_found` if the key does not exist, has another
   * digest, or is revoked. Counts as a use of the key.
   */
  verify(keyId: string, sha256: Buffer): Promise<{ tenantId: TenantId; role: KeyRole }>;
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

    async create(tenantId, { name, role }, cause) {
      if ((await store.countActive(tenantId)) >= MAX_ACTIVE_KEYS) {
        throw new AppError(
          'conflict',
          `The workspace has ${MAX_ACTIVE_KEYS} valid keys. Revoke one that is not needed.`,
        );
      }
      const { id, apiKey, sha256 } = mintWorkspaceKey();
      const createdAt = new Date(clock());
      await store.insert(tenantId, { id, name, role, createdAt, lastUsedAt: null, revokedAt: null, sha256 }, cause);
      return { id, name, role, createdAt, apiKey };
    },

    async revoke(tenantId, keyId, cause) {
      if (await store.revoke(tenantId, keyId, new Date(clock()), cause)) return;
      throw new AppError('not_found', 'This workspace has no key with that id.');
    },

    async verify(keyId, sha256) {
      const proof = await store.findProof(keyId);
      const matches = timingSafeEqual(proof?.sha256 ?? NO_DIGEST, sha256);
      if (proof === null || !matches || proof.revoked) {
        throw new AppError('not_found', 'This workspace key is not valid.');
      }
      const { tenantId, role, isUsed } = proof;
      recordUse({ tenantId, keyId, usedAt: new Date(clock()) }, { isFirst: !isUsed });
      return { tenantId, role };
    },
  };
}
