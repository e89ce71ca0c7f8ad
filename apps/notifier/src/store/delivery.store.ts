import { driverCollection, isDuplicateKey } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import type { Delivery, DeliveryState } from '../domain/delivery.ts';
import {
  type DeliveryDocument,
  deliverySchema,
  DUE_BY_CHANNEL,
  fromNotification,
  fromState,
  type StoredNotification,
  toDelivery,
} from './delivery.document.ts';

/**
 * The queue of deliveries, and what became of them. Times are epoch milliseconds.
 *
 * The workers that use it serve all workspaces alike, and nothing that a caller sends reaches it: the tenant of a delivery is
 * the one of its notification.
 */
export interface DeliveryStore {
  /** Queues what is new of a batch, within the transaction of `session`; a notification that is known is left as it is. */
  add(session: ClientSession, batch: readonly StoredNotification[], at: number): Promise<number>;
  /** Channels with something due, the longest due first. Some can be leased. */
  dueChannels(at: number): Promise<string[]>;
  /** Leases what is due first of a channel. Null when nothing is, or somebody works on a delivery of the channel. */
  claim(channelId: string, owner: string, at: number, until: number): Promise<Delivery | null>;
  /** When an earlier delivery of the same alert to the same channel is due that is not over; null without one. */
  predecessorDueAt(delivery: Delivery): Promise<number | null>;
  /**
   * Stores the state after an attempt, to be published, and ends the lease. False when the lease was lost. With
   * `holdChannelUntil` nothing of the channel is due before that.
   */
  settle(delivery: Delivery, owner: string, state: DeliveryState, holdChannelUntil: number | null): Promise<boolean>;
  /** Ends the lease without an attempt; due again at `until`. */
  postpone(delivery: Delivery, owner: string, until: number): Promise<void>;
  /** Extends the leases of `owner` on the deliveries that it works on. */
  renew(owner: string, notificationIds: readonly string[], until: number): Promise<void>;
  /** Ends the leases that have expired: their owners are dead, or failed to store what they did. */
  freeExpired(at: number, exceptIds: readonly string[]): Promise<void>;
  /** Deliveries whose state alerts has not been told of, at most `limit`. */
  unpublished(limit: number): Promise<Delivery[]>;
  /** Notes that these states were published; a state that is newer by now stays unpublished. */
  markPublished(deliveries: readonly Delivery[]): Promise<void>;
  /** Deliveries that are not over, and when the oldest of them was stored. */
  queue(): Promise<{ depth: number; oldestStoredAt: number | null }>;
}

/** A lease that is lost with a server costs a second attempt, which is cheaper than to wait for the journal at every first one. */
const UNJOURNALED = { writeConcern: { w: 1 } };

/** Deliveries in the database of `connection`. Make it before the connection starts. */
export function createDeliveryStore(connection: Connection): DeliveryStore {
  // The driver's collection: every value below is typed or made here, and mongoose would cast the alerts field by field.
  const deliveries = driverCollection<DeliveryDocument>(connection, 'Delivery', deliverySchema);
  const leased = ({ notification, sequence }: Delivery, owner: string) => ({
    _id: notification.notificationId,
    sequence,
    'lease.owner': owner,
  });

  return {
    async add(session, batch, at) {
      const byId = new Map(batch.map((stored) => [stored.notification.notificationId, stored]));
      const known = deliveries.find({ _id: { $in: [...byId.keys()] } }, { session, projection: { _id: 1 } });
      for (const { _id } of await known.toArray()) byId.delete(_id);
      const fresh = [...byId.values()].map((stored) => fromNotification(stored, at));
      if (fresh.length > 0) await deliveries.insertMany(fresh, { session });
      return fresh.length;
    },

    async dueChannels(at) {
      // With both ranges given, the index is skipped through channel by channel: the cost is that of the channels with
      // something due, however much of it.
      const due = deliveries.aggregate<{ _id: string }>(
        [
          { $match: { channelId: { $gt: '' }, nextAttemptAt: { $lte: new Date(at) } } },
          { $sort: { channelId: 1, nextAttemptAt: 1, offset: 1 } },
          { $group: { _id: '$channelId', dueAt: { $first: '$nextAttemptAt' } } },
          { $sort: { dueAt: 1 } },
        ],
        { hint: DUE_BY_CHANNEL },
      );
      return (await due.toArray()).map(({ _id }) => _id);
    },

    async claim(channelId, owner, at, until) {
      try {
        const claimed = await deliveries.findOneAndUpdate(
          { channelId, nextAttemptAt: { $lte: new Date(at) }, lease: { $exists: false } },
          { $set: { lease: { owner, until: new Date(until) } } },
          { sort: { nextAttemptAt: 1, offset: 1 }, returnDocument: 'after', ...UNJOURNALED },
        );
        return claimed && toDelivery(claimed);
      } catch (error) {
        if (isDuplicateKey(error)) return null;
        throw error;
      }
    },

    async predecessorDueAt({ notification: { alert, channelId }, offset }) {
      const predecessor = await deliveries.findOne(
        { 'alert.id': alert.id, channelId, offset: { $lt: offset }, nextAttemptAt: { $exists: true } },
        { projection: { nextAttemptAt: 1 }, sort: { offset: 1 } },
      );
      return predecessor?.nextAttemptAt?.getTime() ?? null;
    },

    async settle(delivery, owner, state, holdChannelUntil) {
      const over = state.nextAttemptAt === null;
      const { matchedCount } = await deliveries.updateOne(leased(delivery, owner), {
        $set: {
          ...fromState(state),
          sequence: delivery.sequence + 1,
          unpublished: true,
          ...(over && { finishedAt: new Date() }),
        },
        $unset: { lease: 1, ...(over && { nextAttemptAt: 1 }) },
      });
      if (holdChannelUntil !== null) {
        const { channelId } = delivery.notification;
        const held = new Date(holdChannelUntil);
        await deliveries.updateMany({ channelId, nextAttemptAt: { $lt: held } }, { $set: { nextAttemptAt: held } });
      }
      return matchedCount === 1;
    },

    async postpone(delivery, owner, until) {
      await deliveries.updateOne(leased(delivery, owner), {
        $set: { nextAttemptAt: new Date(until) },
        $unset: { lease: 1 },
      });
    },

    async renew(owner, notificationIds, until) {
      const own = { _id: { $in: [...notificationIds] }, 'lease.owner': owner };
      await deliveries.updateMany(own, { $set: { 'lease.until': new Date(until) } }, UNJOURNALED);
    },

    async freeExpired(at, exceptIds) {
      const expired = { 'lease.until': { $lte: new Date(at) }, _id: { $nin: [...exceptIds] } };
      await deliveries.updateMany(expired, { $unset: { lease: 1 } }, UNJOURNALED);
    },

    async unpublished(limit) {
      return (await deliveries.find({ unpublished: true }).sort({ lastAttemptAt: 1 }).limit(limit).toArray()).map(
        toDelivery,
      );
    },

    async markPublished(published) {
      const updates = published.map(({ notification: { notificationId }, sequence }) => ({
        updateOne: { filter: { _id: notificationId, sequence }, update: { $unset: { unpublished: 1 as const } } },
      }));
      await deliveries.bulkWrite(updates, { ordered: false });
    },

    async queue() {
      const open = { nextAttemptAt: { $exists: true } };
      const [depth, oldest] = await Promise.all([
        deliveries.countDocuments(open, { hint: DUE_BY_CHANNEL }),
        deliveries.findOne(open, { sort: { storedAt: 1 }, projection: { storedAt: 1 } }),
      ]);
      return { depth, oldestStoredAt: oldest?.storedAt.getTime() ?? null };
    },
  };
}
