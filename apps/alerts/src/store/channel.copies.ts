import type { ChannelSummary } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';

interface StoredCopy extends Omit<ChannelSummary, 'id'> {
  _id: string;
  tenantId: string;
  /** Set when the channel is no more. */
  deletedAt?: Date;
}

/**
 * The notifier may have answered for a rule that a channel exists, and the rule be stored after the report of the
 * channel's deletion. So a deleted channel is known for as long, and longer, than a rule takes to be stored.
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

/** What a notification must know of a channel. */
export type NotifiedChannel = Pick<ChannelSummary, 'id' | 'type'>;

/**
 * What alerts knows of channels, so that those of rules are notified without asking the notifier: all that a rule has
 * named, and all that have changed, since a rule may be stored with an older answer behind the report of a change.
 * Whatever is called with a session is a part of its transaction.
 */
export interface ChannelCopies {
  /**
   * Takes over what the notifier has answered or reported. Answers the ids of those that were not deleted. An older
   * state than is known changes nothing.
   */
  remember(session: ClientSession, tenantId: TenantId, found: readonly ChannelSummary[]): Promise<string[]>;
  /** The channel is no more. The transaction has recorded the change of the rules. */
  forget(session: ClientSession, tenantId: TenantId, channelId: string): Promise<void>;
  /** Those of the channels that exist and are enabled. */
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
