import type { KeyRole } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** Whose a key is and what it may do. */
export interface VerifiedKey {
  tenantId: TenantId;
  role: KeyRole;
}

export interface KeyToVerify {
  keyId: string;
  sha256: Buffer;
  /** Id of the request that brings the key, for the logs of the other side. */
  requestId: string;
}

/** Null when the key is unknown, wrong or revoked. Rejects when that can't be found out. */
export type KeyVerifier = (key: KeyToVerify) => Promise<VerifiedKey | null>;
