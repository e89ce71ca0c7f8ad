import type { ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/**
 * Where notifications go. `url` and `signingSecret` are secrets: they are held for an attempt and never kept or logged.
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

/** The channels as alerts has them, at most a second old. */
export interface ChannelDirectory {
  /** Null when the workspace has no such channel. Rejects while alerts can't be asked. */
  find(tenantId: TenantId, channelId: string): Promise<Channel | null>;
}
