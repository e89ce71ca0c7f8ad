import type { AuditedFields, AuditTarget, Cause, ChannelSummary } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { addressOf, CHANNEL_KINDS, type Destination } from './channel.kinds.ts';
import type { Confirmation } from './email/reader.ts';

/** A destination of notifications. */
export interface Channel {
  id: string;
  tenantId: TenantId;
  name: string | null;
  enabled: boolean;
  destination: Destination;
  createdAt: Date;
  updatedAt: Date;
  /** Increases with each change. */
  revision: number;
}

/** A channel with the confirmations of its addresses; none unless it sends mail. */
export interface ConfirmedChannel extends Channel {
  confirmations: readonly Confirmation[];
}

/** The part of a channel that people edit. */
export type ChannelDraft = Pick<Channel, 'name' | 'enabled' | 'destination'>;

const AUDITED_CONFIG = new Set(Object.values(CHANNEL_KINDS).flatMap(({ auditedAs }) => Object.values(auditedAs)));

/** The fields of a channel that the audit log records. Of `config`, only the host and changes: it may be secret. */
export const AUDITED_CHANNEL: AuditedFields<ChannelDraft> = {
  name: ({ name }) => name,
  enabled: ({ enabled }) => enabled,
  channel_type: ({ destination }) => destination.type,
  host({ destination }) {
    const address = addressOf(destination);
    return address === null ? null : new URL(address).host;
  },
  ...Object.fromEntries(
    Array.from(AUDITED_CONFIG, (name) => [name, { secret: ({ destination }) => configAuditedAs(name, destination) }]),
  ),
};

function configAuditedAs(name: string, { type, config }: Destination): unknown {
  const [field] = Object.entries(CHANNEL_KINDS[type].auditedAs).find(([, auditedAs]) => auditedAs === name) ?? [];
  return Object.entries(config).find(([each]) => each === field)?.[1] ?? null;
}

export function channelTarget({ id, name }: Pick<Channel, 'id' | 'name'>): AuditTarget {
  return { type: 'channel', id, name: name ?? '' };
}

/** Maximum number of channels in a workspace. */
export const MAX_CHANNELS = 100;

/**
 * The store of channels. No method finds a channel of another workspace. Changes are written to the audit trail and
 * reported to alerts in the same transaction.
 */
export interface ChannelStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Channel[]>;
  find(tenantId: TenantId, channelId: string): Promise<Channel | null>;
  /** The channels among these ids that exist; without ids, all. */
  summaries(tenantId: TenantId, channelIds: readonly string[]): Promise<ChannelSummary[]>;
  /** False if the workspace already has {@link MAX_CHANNELS} channels. */
  insert(channel: Channel, cause: Cause): Promise<boolean>;
  /**
   * Stores the channel that `decide` returns; it may run again on a newer channel. Null if there is no such channel.
   */
  update(
    tenantId: TenantId,
    channelId: string,
    decide: (current: Channel) => Channel,
    cause: Cause,
  ): Promise<Channel | null>;
  /** False if there is no such channel. */
  delete(tenantId: TenantId, channelId: string, cause: Cause): Promise<boolean>;
  /** Writes the attempt to test the channel to the audit trail, regardless of its result. */
  recordTest(channel: Channel, cause: Cause): Promise<void>;
}
