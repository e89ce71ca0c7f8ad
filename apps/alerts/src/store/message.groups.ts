import { NOTIFICATION_TYPES, type NotificationType } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import type { TraceHeaders } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, Schema } from 'mongoose';
import type { NotifiedChannel } from './channel.copies.ts';

/** A message that collects alerts of a rule for a channel until it is due. */
export interface MessageGroup {
  /** See {@link groupKeyOf}. There is one at a time for each key. */
  key: string;
  tenantId: TenantId;
  /** Differs for each message with this key. */
  messageId: string;
  type: NotificationType;
  channel: NotifiedChannel;
  trace: TraceHeaders | undefined;
  /** The first alerts, which the message names. */
  alertIds: string[];
  /** Number of alerts. */
  total: number;
  /** How many of them are resolved. */
  resolved: number;
  /** Epoch milliseconds. */
  dueAt: number;
}

interface StoredGroup extends Omit<MessageGroup, 'key' | 'tenantId' | 'trace' | 'dueAt'> {
  _id: string;
  tenantId: string;
  trace?: TraceHeaders;
  dueAt: Date;
}

/** The messages that still collect. Methods with a session take part in its transaction. */
export interface MessageGroups {
  /** Those of these keys that there are, by key. */
  read(session: ClientSession, keys: readonly string[]): Promise<Map<string, MessageGroup>>;
  /** Stores new and changed ones. */
  write(session: ClientSession, groups: Iterable<MessageGroup>): Promise<void>;
  /** At most `limit` of the workspace that are due, the longest due first. */
  due(session: ClientSession, tenantId: TenantId, at: number, limit: number): Promise<MessageGroup[]>;
  remove(session: ClientSession, keys: readonly string[]): Promise<void>;
  /** Workspaces with messages that are due. */
  dueTenants(at: number): Promise<TenantId[]>;
  /** When the first of all workspaces is or was due; null if there is none. */
  oldestDueAt(): Promise<Date | null>;
}

/** The key of the message of this type about alerts of the rule for the channel. */
export function groupKeyOf(ruleId: string, channelId: string, type: NotificationType): string {
  return `${ruleId}|${channelId}|${type}`;
}

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;

/** Make it before the connection starts. */
export function createMessageGroups(connection: Connection): MessageGroups {
  const schema = new Schema<StoredGroup>(
    {
      _id: text,
      tenantId: text,
      messageId: text,
      type: { ...text, enum: NOTIFICATION_TYPES },
      channel: { type: Schema.Types.Mixed, required: true },
      trace: Schema.Types.Mixed,
      alertIds: { type: [String], required: true },
      total: number,
      resolved: number,
      dueAt: { type: Date, required: true },
    },
    { collection: 'message_groups', versionKey: false },
  );
  schema.index({ tenantId: 1, dueAt: 1 });
  schema.index({ dueAt: 1, tenantId: 1 });
  const groups = driverCollection<StoredGroup>(connection, 'MessageGroup', schema);
  const isDue = (at: number) => ({ dueAt: { $lte: new Date(at) } });

  return {
    async read(session, keys) {
      const found = await groups.find({ _id: { $in: [...keys] } }, { session }).toArray();
      return new Map(found.map((stored) => [stored._id, toGroup(stored)]));
    },
    async write(session, changed) {
      const writes = [...changed].map(({ key, dueAt, trace, ...fields }) => ({
        replaceOne: {
          filter: { _id: key },
          replacement: { ...fields, ...(trace && { trace }), dueAt: new Date(dueAt) },
          upsert: true,
        },
      }));
      if (writes.length > 0) await groups.bulkWrite(writes, { session });
    },
    async due(session, tenantId, at, limit) {
      const found = groups.find({ tenantId, ...isDue(at) }, { session, sort: { dueAt: 1 }, limit });
      return (await found.toArray()).map(toGroup);
    },
    async remove(session, keys) {
      await groups.deleteMany({ _id: { $in: [...keys] } }, { session });
    },
    dueTenants: async (at) => (await groups.distinct('tenantId', isDue(at))).map(provenTenantId),
    async oldestDueAt() {
      const first = await groups.findOne({}, { sort: { dueAt: 1 }, projection: { dueAt: 1 } });
      return first?.dueAt ?? null;
    },
  };
}

function toGroup({ _id: key, tenantId, dueAt, ...fields }: StoredGroup): MessageGroup {
  return { ...fields, key, tenantId: provenTenantId(tenantId), trace: fields.trace, dueAt: dueAt.getTime() };
}
