import { driverCollection, isDuplicateKey } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import type { Delivery, DeliveryState } from '../domain/delivery.ts';
import { type ChannelHoldDocument, channelHoldSchema } from './channel-hold.document.ts';
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
 * The workers that use it serve all workspaces alike, and nothing that a caller sends reaches it: the tenant of a
 * delivery is the one of its notification.
 */
export interface DeliveryStore {
  /**
   * Queues what is new of a batch, within the transaction of `session`; a notification that is known is left as it is.
   */
  add(session: ClientSession, batch: readonly StoredNotification[], at: number): Promise<number>;
  /** Channels that have something due and are not on hold, the longest due first. Some can be leased. */
  dueChannels(at: number): Promise<string[]>;
  /**
   * Leases what is due first of a channel. Null when nothing is, on hold, and while somebody works on a delivery of the
   * channel.
   */
  claim(channelId: string, owner: string, at: number, until: number): Promise<Delivery | null>;
  /** When an earlier delivery of the same alert to the same channel is due that is not over; null without one. */
  predecessorDueAt(delivery: Delivery): Promise<number | null>;
  /**
   * Stores the state after an attempt, to be published, and ends the lease. False when the lease was lost. With
   * `holdChannelUntil` the channel is on hold until then, lease or not; a delivery that waits for no more than that
   * keeps its place before those behind it.
   */
  settle(delivery: Delivery, owner: string, state: DeliveryState, holdChannelUntil: number | null): Promise<boolean>;
  /** Ends the lease without an attempt; due again at `until`. */
  postpone(delivery: Delivery, owner: string, until: number): Promise<void>;
  /** Ends the lease without an attempt; as due as it was before. */
  release(delivery: Delivery, owner: string): Promise<void>;
  /** Extends the leases of `owner` on the deliveries that it works on. */
  renew(owner: string, notificationIds: readonly string[], until: number): Promise<void>;
  /** Ends the leases that have expired: their owners are dead, or failed to store what they did. */
  freeExpired(at: number, exceptIds: readonly string[]): Promise<void>;
  /** Deliveries whose state alerts has not been told of, at most `limit`. */
  unpublished(limit: number): Promise<Delivery[]>;
  /** Notes that these states were published; a state that is newer by now stays unpublished. */
  markPublished(deliveries: readonly Delivery[]): Promise<void>;
  /** Deliveries that are not over. */
  depth(): Promise<number>;
  /** When the oldest delivery that is not over was stored; null without one. */
  oldestStoredAt(): Promise<number | null>;
}

/**
 * A lease that is lost with a server costs a second attempt, which is cheaper than to wait for the journal at every
 * first one.
 */
const UNJOURNALED = { writeConcern: { w: 1 } };

/** Deliveries in the database of `connection`. Make it before the connection starts. */
export function createDeliveryStore(connection: Connection): DeliveryStore {
  // The driver's collection: every value below is typed or made here, and mongoose would cast the alerts field by
  // field.
  const deliveries = driverCollection<DeliveryDocument>(connection, 'Delivery', deliverySchema);
  const holds = driverCollection<ChannelHoldDocument>(connection, 'ChannelHold', channelHoldSchema);
  const leased = ({ notification, sequence }: Delivery, owner: string) => ({
    _id: notification.notificationId,
    sequence,
    'lease.owner': owner,
  });

  async function lease(channelId: string, owner: string, at: number, until: number): Promise<Delivery | null> {
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
  }

  async function release(delivery: Delivery, owner: string): Promise<void> {
    await deliveries.updateOne(leased(delivery, owner), { $unset: { lease: 1 } }, UNJOURNALED);
  }

  async function onHold(channelIds: string[], at: number): Promise<Set<string>> {
    const held = holds.find({ _id: { $in: channelIds }, until: { $gt: new Date(at) } });
    return new Set((await held.toArray()).map(({ _id }) => _id));
  }

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
      const channelIds = (await due.toArray()).map(({ _id }) => _id);
      const held = await onHold(channelIds, at);
      return channelIds.filter((channelId) => !held.has(channelId));
    },

    async claim(channelId, owner, at, until) {
      const delivery = await lease(channelId, owner, at, until);
      if (delivery === null) return null;
      // Asked with the lease in hand: the attempt before wrote its hold before it let go, so it can't be missed.
      if (!(await onHold([channelId], at)).has(channelId)) return delivery;
      await release(delivery, owner);
      return null;
    },

    async predecessorDueAt({ notification: { alert, channelId }, offset }) {
      const predecessor = await deliveries.findOne(
        { 'alert.id': alert.id, channelId, offset: { $lt: offset }, nextAttemptAt: { $exists: true } },
        { projection: { nextAttemptAt: 1 }, sort: { offset: 1 } },
      );
      return predecessor?.nextAttemptAt?.getTime() ?? null;
    },

    async settle(delivery, owner, state, holdChannelUntil) {
      if (holdChannelUntil !== null) {
        const { channelId } = delivery.notification;
        await holds.updateOne({ _id: channelId }, { $max: { until: new Date(holdChannelUntil) } }, { upsert: true });
      }
      const { $set, $unset } = nextPlace(state, holdChannelUntil);
      const { matchedCount } = await deliveries.updateOne(leased(delivery, owner), {
        $set: { ...fromState(state), ...$set, sequence: delivery.sequence + 1, unpublished: true },
        $unset: { ...$unset, lease: 1 },
      });
      return matchedCount === 1;
    },

    async postpone(delivery, owner, until) {
      await deliveries.updateOne(leased(delivery, owner), {
        $set: { nextAttemptAt: new Date(until) },
        $unset: { heldUntil: 1, lease: 1 },
      });
    },

    release,

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

    depth() {
      // With both ranges given, the index alone answers.
      return deliveries.countDocuments(
        { channelId: { $gt: '' }, nextAttemptAt: { $gt: new Date(0) } },
        { hint: DUE_BY_CHANNEL },
      );
    },

    async oldestStoredAt() {
      const open = { nextAttemptAt: { $exists: true } };
      const oldest = await deliveries.findOne(open, { sort: { storedAt: 1 }, projection: { storedAt: 1 } });
      return oldest?.storedAt.getTime() ?? null;
    },
  };
}

interface PlaceChange {
  $set: Pick<DeliveryDocument, 'nextAttemptAt' | 'heldUntil' | 'finishedAt'>;
  $unset: Record<string, 1>;
}

/** Where a delivery in this state stands among the others of its channel, if it still does. */
function nextPlace({ nextAttemptAt }: DeliveryState, holdChannelUntil: number | null): PlaceChange {
  if (nextAttemptAt === null) return { $set: { finishedAt: new Date() }, $unset: { nextAttemptAt: 1, heldUntil: 1 } };
  const at = new Date(nextAttemptAt);
  if (holdChannelUntil !== null && nextAttemptAt <= holdChannelUntil) return { $set: { heldUntil: at }, $unset: {} };
  return { $set: { nextAttemptAt: at }, $unset: { heldUntil: 1 } };
}
