import type { KeyRole, Labels, ReportMapping } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A valid key. */
export interface VerifiedKey {
  keyId: string;
  tenantId: TenantId;
  role: KeyRole;
  /** The labels of every call that is made with the key. */
  labels: Labels;
  /** Whether somebody waits to see what the workspace reports. */
  watched: boolean;
  /** How reports of calls that come with it are read. */
  reports: ReportMapping;
}

export interface KeyToVerify {
  keyId: string;
  sha256: Buffer;
  /** Id of the request with the key, for the logs of the keys service. */
  requestId: string;
}

/** Null when the key is unknown, wrong or revoked. Rejects when the keys service does not answer. */
export type KeyVerifier = (key: KeyToVerify) => Promise<VerifiedKey | null>;
