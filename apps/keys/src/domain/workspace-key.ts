import {
  type AuditedFields,
  type Cause,
  DEFAULT_REPORT_MAPPING,
  type KeyRole,
  type Labels,
  auditedLabels,
  type ReportMapping,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A key as its owner sees it, without the secret and its digest. */
export interface WorkspaceKey {
  /** The part of the key between `ws_live_` and the dot. */
  id: string;
  name: string;
  role: KeyRole;
  /** The labels that the key pins to every call. */
  labels: Labels;
  reports: ReportMapping;
  createdAt: Date;
  /** Time of the last use. The first use is stored at once, later ones within a minute; null before the first. */
  lastUsedAt: Date | null;
  /** Null while the key is valid. */
  revokedAt: Date | null;
}

/** The facts for verifying a key: its workspace, what callers need to know of it, and the expected digest. */
interface KeyProof {
  tenantId: TenantId;
  role: KeyRole;
  labels: Labels;
  reports: ReportMapping;
  sha256: Buffer;
  revoked: boolean;
  /** Whether a use of the key is stored. */
  isUsed: boolean;
}

/** What of a key can change, besides its revocation. */
export type KeyChange = Partial<Pick<WorkspaceKey, 'labels' | 'reports'>>;

/** The fields of a key that the audit log records. What is as by default is none. */
export const AUDITED_KEY: AuditedFields<WorkspaceKey> = {
  name: (key) => key.name,
  role: (key) => key.role,
  labels: (key) => auditedLabels(key.labels),
  'reports.agent': (key) => key.reports.agent,
  'reports.run': (key) => key.reports.run,
  'reports.labels': (key) => auditedLabels(key.reports.labels),
  'reports.price_anew': (key) => key.reports.priceAnew || null,
  'reports.guard': ({ reports: { guard } }) => (guard === DEFAULT_REPORT_MAPPING.guard ? null : guard),
  revoked_at: (key) => key.revokedAt?.toISOString() ?? null,
};

/** Maximum number of keys of a workspace that are not revoked. */
export const MAX_ACTIVE_KEYS = 500;
/** Maximum number of revoked keys in a list: those revoked last. */
export const MAX_REVOKED_KEYS_LISTED = 500;

/**
 * Stores keys. Methods with a tenant never find a key of another workspace. Changes are written to the audit trail in
 * the same transaction.
 */
export interface KeyStore {
  /** Stores a new key with the SHA-256 of its text. */
  insert(tenantId: TenantId, key: WorkspaceKey & { sha256: Buffer }, cause: Cause): Promise<void>;
  countActive(tenantId: TenantId): Promise<number>;
  /** Keys that are not revoked, newest first, then those revoked last. */
  list(tenantId: TenantId): Promise<WorkspaceKey[]>;
  /** Replaces what changes unless the key is revoked. The key as it is now; null if the workspace has no such key. */
  update(tenantId: TenantId, keyId: string, change: KeyChange, cause: Cause): Promise<WorkspaceKey | null>;
  /** Sets `revokedAt` unless it is set. False if the workspace has no such key. */
  revoke(tenantId: TenantId, keyId: string, revokedAt: Date, cause: Cause): Promise<boolean>;
  /** The facts for verifying a key. The only query without a tenant, because its answer names the tenant. */
  findProof(keyId: string): Promise<KeyProof | null>;
  /** Moves `lastUsedAt` of the given keys forward, never back. */
  recordUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface KeyUse {
  tenantId: TenantId;
  keyId: string;
  usedAt: Date;
}
