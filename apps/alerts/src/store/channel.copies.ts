import type { ChannelSummary } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';

interface StoredCopy extends Omit<ChannelSummary, 'id'> {
  _id: string;
  tenantId: string;
  /** Set when the channel is deleted. */
  deletedAt?: Date;
}

/**
 * A rule may be stored with a channel that the notifier had before, after the report of the channel's deletion. So
 * deletions are remembered for longer than it takes to store a rule.
 */
const DELETED_SECONDS = 3600;

const text = { type: String, required: true } as const;

const copySchema = new Schema<StoredCopy>(
  {
    _id: text,
    tenantId: text,
    type: text,
    enabled: { type: Boolean, required: true },
    revision: { type: Number, required: true },
    deletedAt: Date,
  },
  { collection: 'channels', versionKey: false },
);
copySchema.index({ deletedAt: 1 }, { expireAfterSeconds: DELETED_SECONDS });

/** The fields of a channel that a notification needs. */
export type NotifiedChannel = Pick<ChannelSummary, 'id' | 'type'>;

/**
 * Copies of the notifier's channels, so that alerts can queue notifications without asking it. There is one for each
 * channel that a rule has named, and for each changed channel, because a rule may be stored with an answer older than
 * the report. Methods with a session take part in its transaction.
 */
export interface ChannelCopies {
  /**
   * Stores channels from the notifier's answers or reports, and returns the ids that are not deleted. Ignores states
   * older than the stored one.
   */
  remember(session: ClientSession, tenantId: TenantId, found: readonly ChannelSummary[]): Promise<string[]>;
  /** Marks the channel as deleted. The caller has recorded the change of rules in the transaction. */
  forget(session: ClientSession, tenantId: TenantId, channelId: string): Promise<void>;
  /** The channels among these that exist and are enabled. */
  enabled(session: ClientSession, tenantId: TenantId, channelIds: string[]): Promise<NotifiedChannel[]>;
}

/** Make it before the connection starts. */
export function createChannelCopies(connection: Connection, clock: Clock): ChannelCopies {
  const copies = connection.model<StoredCopy>('ChannelCopy', copySchema);

  return {
    async remember(session, tenantId, found) {
      const ids = found.map(({ id }) => id);
      const stored = await copies.find({ _id: trusted({ $in: ids }), tenantId }, null, { session }).lean();
      const known = new Map(stored.map((copy) => [copy._id, copy]));
      for (const { id, ...summary } of found) {
        const { revision = 0, deletedAt } = known.get(id) ?? {};
        if (deletedAt !== undefined || revision >= summary.revision) continue;
        await copies.updateOne({ _id: id, tenantId }, { $set: summary }, { session, upsert: true });
      }
      return ids.filter((id) => known.get(id)?.deletedAt === undefined);
    },

    async forget(session, tenantId, channelId) {
      const deleted = { enabled: false, deletedAt: new Date(clock()) };
      const update = { $set: deleted, $setOnInsert: { type: '', revision: 0 } };
      await copies.updateOne({ _id: channelId, tenantId }, update, { session, upsert: true });
    },

    async enabled(session, tenantId, channelIds) {
      const filter = { tenantId, enabled: true, _id: trusted({ $in: channelIds }) };
      const found = await copies.find(filter, { type: 1 }, { session }).lean();
      return found.map(({ _id, type }) => ({ id: _id, type }));
    },
  };
}
