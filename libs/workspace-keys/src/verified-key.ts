import type { KeyRole } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** The workspace and the role of a key. */
export interface VerifiedKey {
  tenantId: TenantId;
  role: KeyRole;
}

export interface KeyToVerify {
  keyId: string;
  sha256: Buffer;
  /** Id of the request with the key, for the logs of the keys service. */
  requestId: string;
}

/** Null when the key is unknown, wrong or revoked. Rejects when the keys service does not answer. */
export type KeyVerifier = (key: KeyToVerify) => Promise<VerifiedKey | null>;
