import type { ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/**
 * The destination of notifications. `url` and `signingSecret` are secrets: they stay in memory for one attempt, and are
 * never stored or logged.
 */
export interface Channel {
  id: string;
  type: ChannelType;
  enabled: boolean;
  /** https URL. */
  url: string;
  /** Null: deliveries are not signed. Always null for `chat`. */
  signingSecret: string | null;
}

/** Reads channels from alerts. Answers are at most a second old. */
export interface ChannelDirectory {
  /** Null when the workspace has no such channel. Rejects when alerts does not answer. */
  find(tenantId: TenantId, channelId: string): Promise<Channel | null>;
}
