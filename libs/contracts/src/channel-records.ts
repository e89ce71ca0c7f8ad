import { IDENTIFIER, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { type ReadDelivery, readDeliverySchema, toReadDelivery } from './alert-records.ts';
import { readRecord } from './record-reader.ts';

/** What other services may know of a channel: nothing about its destination. */
export interface ChannelSummary {
  id: string;
  type: string;
  enabled: boolean;
  /** Increases with each change of the channel. */
  revision: number;
}

/** A change of a channel. The notifier writes it in the transaction of the change. */
export type ChannelRecord =
  | { kind: 'channel.changed'; tenantId: TenantId; channel: ChannelSummary }
  | { kind: 'channel.deleted'; tenantId: TenantId; channelId: string };

/** A record of `alerts.deliveries` as its reader sees it; `other` is from a newer notifier and is skipped. */
export type NotifierRecord = { kind: 'delivery'; delivery: ReadDelivery } | ChannelRecord | { kind: 'other' };

const id = z.string().regex(IDENTIFIER);
const v = z.literal(1);

/** The kinds of records that the notifier writes to `alerts.deliveries` besides deliveries. */
export const channelRecordSchemas = {
  'channel.changed': z.object({
    v,
    kind: z.literal('channel.changed'),
    tenant_id: id,
    channel_id: id,
    channel_type: z.string(),
    enabled: z.boolean(),
    revision: z.int().min(1),
  }),
  'channel.deleted': z.object({ v, kind: z.literal('channel.deleted'), tenant_id: id, channel_id: id }),
  other: z.object({ v, kind: z.string() }),
} satisfies Record<ChannelRecord['kind'] | 'other', z.ZodType>;

/**
 * Returns a record for the outbox of `alerts.deliveries`. Its key is the workspace, so changes of a workspace's
 * channels keep their order.
 */
export function encodeChannelRecord(record: ChannelRecord): { id: string; key: string; value: Buffer } {
  const { id: recordId, body } = toWire(record);
  return { id: recordId, key: record.tenantId, value: Buffer.from(JSON.stringify(body)) };
}

type Wire<Kind extends ChannelRecord['kind']> = z.input<(typeof channelRecordSchemas)[Kind]>;

function toWire(record: ChannelRecord): { id: string; body: Wire<ChannelRecord['kind']> } {
  const { kind, tenantId: tenant_id } = record;
  switch (kind) {
    case 'channel.changed': {
      const { id: channel_id, type: channel_type, enabled, revision } = record.channel;
      return {
        id: `${channel_id}:${revision}`,
        body: { v: 1, kind, tenant_id, channel_id, channel_type, enabled, revision },
      };
    }
    case 'channel.deleted': {
      const channel_id = record.channelId;
      return { id: `${channel_id}:deleted`, body: { v: 1, kind, tenant_id, channel_id } };
    }
  }
}

/**
 * Reads the value of a record of `alerts.deliveries`. Throws an Error that names the invalid fields, never their
 * values: such a record belongs in the dead letters.
 */
export function decodeNotifierRecord(value: Buffer): NotifierRecord {
  const kind = readRecord(channelRecordSchemas.other, value).kind as NotifierRecord['kind'];
  switch (kind) {
    case 'delivery':
      return { kind, delivery: toReadDelivery(readRecord(readDeliverySchema, value)) };
    case 'channel.changed': {
      const record = readRecord(channelRecordSchemas[kind], value);
      const { channel_id, channel_type: type, enabled, revision } = record;
      return { kind, tenantId: provenTenantId(record.tenant_id), channel: { id: channel_id, type, enabled, revision } };
    }
    case 'channel.deleted': {
      const record = readRecord(channelRecordSchemas[kind], value);
      return { kind, tenantId: provenTenantId(record.tenant_id), channelId: record.channel_id };
    }
    case 'other':
    default:
      return { kind: 'other' };
  }
}
