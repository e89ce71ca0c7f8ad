import type { TenantId } from '@tollkeeper/kernel';

/** Where a channel leads. All of it is secret but the `url` of a webhook, which its admins may read. */
export type Destination =
  | { type: 'chat'; webhookUrl: string }
  | { type: 'webhook'; url: string; /** Null: deliveries are not signed. */ signingSecret: string | null };

/** A destination of notifications. */
export interface Channel {
  id: string;
  tenantId: TenantId;
  name: string | null;
  enabled: boolean;
  destination: Destination;
  createdAt: Date;
  updatedAt: Date;
}

/** What a person says about a channel; the rest is Tollkeeper's. */
export type ChannelDraft = Pick<Channel, 'name' | 'enabled' | 'destination'>;

/** Most channels in a workspace. */
export const MAX_CHANNELS = 100;

/** Where channels are kept. Another workspace's channel does not exist for any method. */
export interface ChannelStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Channel[]>;
  find(tenantId: TenantId, channelId: string): Promise<Channel | null>;
  count(tenantId: TenantId): Promise<number>;
  insert(channel: Channel): Promise<void>;
  /**
   * Stores what `decide` makes of the channel; it may be run again on a newer one. Null when there is no such channel.
   */
  update(tenantId: TenantId, channelId: string, decide: (current: Channel) => Channel): Promise<Channel | null>;
  /** Deletes the channel and takes it out of the rules that named it. False when there is no such channel. */
  delete(tenantId: TenantId, channelId: string): Promise<boolean>;
}
