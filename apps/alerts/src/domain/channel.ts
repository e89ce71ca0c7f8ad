import type { AuditedFields, AuditTarget, Cause, ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

interface Addresses {
  chat: { webhookUrl: string };
  webhook: { url: string; /** Null: deliveries are not signed. */ signingSecret: string | null };
}

/** Where a channel leads. All of it is secret but the `url` of a webhook, which its admins may read. */
export type Destination = { [Type in ChannelType]: { type: Type } & Addresses[Type] }[ChannelType];

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

/** The fields of a channel that the audit log records. Of an address only the host: it may hold a secret. */
export const AUDITED_CHANNEL: AuditedFields<ChannelDraft> = {
  name: ({ name }) => name,
  enabled: ({ enabled }) => enabled,
  channel_type: ({ destination }) => destination.type,
  host: ({ destination }) => new URL(secretsOf(destination).address).host,
  url: { secret: ({ destination }) => secretsOf(destination).address },
  signing_secret: { secret: ({ destination }) => secretsOf(destination).signingSecret },
};

function secretsOf(destination: Destination): { address: string; signingSecret: string | null } {
  switch (destination.type) {
    case 'chat':
      return { address: destination.webhookUrl, signingSecret: null };
    case 'webhook':
      return { address: destination.url, signingSecret: destination.signingSecret };
  }
}

export function channelTarget({ id, name }: Pick<Channel, 'id' | 'name'>): AuditTarget {
  return { type: 'channel', id, name: name ?? '' };
}

/** Most channels in a workspace. */
export const MAX_CHANNELS = 100;

/**
 * Where channels are kept. Another workspace's channel does not exist for any method. A change is written to the audit
 * trail in its transaction.
 */
export interface ChannelStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Channel[]>;
  find(tenantId: TenantId, channelId: string): Promise<Channel | null>;
  count(tenantId: TenantId): Promise<number>;
  insert(channel: Channel, cause: Cause): Promise<void>;
  /**
   * Stores what `decide` makes of the channel; it may be run again on a newer one. Null when there is no such channel.
   */
  update(
    tenantId: TenantId,
    channelId: string,
    decide: (current: Channel) => Channel,
    cause: Cause,
  ): Promise<Channel | null>;
  /** Deletes the channel and takes it out of the rules that named it. False when there is no such channel. */
  delete(tenantId: TenantId, channelId: string, cause: Cause): Promise<boolean>;
  /** Writes a test of the channel to the audit trail: the attempt, whatever comes of it. */
  recordTest(channel: Channel, cause: Cause): Promise<void>;
}
