import type { AuditedFields, Cause, KeyRole } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A key as its owner sees it: without the key itself and without its digest. */
export interface WorkspaceKey {
  /** The part of the key between `ws_live_` and the dot. */
  id: string;
  name: string;
  role: KeyRole;
  createdAt: Date;
  /** Time of the last use, at most a minute behind, but the first one at once; null before the first use. */
  lastUsedAt: Date | null;
  /** Null while the key is valid. */
  revokedAt: Date | null;
}

/** The facts to verify a key with: its workspace, its role, and the digest that the secret must have. */
interface KeyProof {
  tenantId: TenantId;
  role: KeyRole;
  sha256: Buffer;
  revoked: boolean;
  /** Whether a use of it is stored. */
  isUsed: boolean;
}

/** The fields of a key that the audit log records. */
export const AUDITED_KEY: AuditedFields<WorkspaceKey> = {
  name: (key) => key.name,
  role: (key) => key.role,
  revoked_at: (key) => key.revokedAt?.toISOString() ?? null,
};

/** Most keys of a workspace that are not revoked. Revoking one makes room. */
export const MAX_ACTIVE_KEYS = 500;
/** Most revoked keys in a list: the ones revoked last. */
export const MAX_REVOKED_KEYS_LISTED = 500;

/**
 * Stores keys. Another workspace's key does not exist for any method that takes a tenant. A change is written to the
 * audit trail in its transaction.
 */
export interface KeyStore {
  /** Stores a new key with the SHA-256 of its text. */
  insert(tenantId: TenantId, key: WorkspaceKey & { sha256: Buffer }, cause: Cause): Promise<void>;
  countActive(tenantId: TenantId): Promise<number>;
  /** Keys that are not revoked, newest first, then the last revoked ones. */
  list(tenantId: TenantId): Promise<WorkspaceKey[]>;
  /** Sets `revokedAt` unless it is set. False when the workspace has no such key. */
  revoke(tenantId: TenantId, keyId: string, revokedAt: Date, cause: Cause): Promise<boolean>;
  /** The facts to verify a key with. This is the only query without a tenant, because its answer names the tenant. */
  findProof(keyId: string): Promise<KeyProof | null>;
  /** Moves `lastUsedAt` of the given keys forward, never back. */
  recordUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface KeyUse {
  tenantId: TenantId;
  keyId: string;
  usedAt: Date;
}
