import { driverCollection, isDuplicateKey, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection, mongo } from 'mongoose';
import type { Delivery, DeliveryState } from '../domain/delivery.ts';
import { type ChannelHolds, createChannelHolds } from './channel.holds.ts';
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
 * The queue of deliveries and their results. Times are epoch milliseconds.
 *
 * The workers that use it serve all workspaces. No caller's input reaches it: a delivery has the tenant of its
 * notification.
 */
export interface DeliveryStore {
  /**
   * Queues the new notifications of a batch, in the transaction of `session`. Of known ones, only the states are
   * reported again.
   */
  add(session: ClientSession, batch: readonly StoredNotification[], at: number): Promise<number>;
  /** Channels with a due delivery that are not on hold, the longest due first. A delivery may already be leased. */
  dueChannels(at: number): Promise<string[]>;
  /**
   * Leases the first due delivery of a channel. Null if none is due, the channel is on hold, or a worker has a delivery
   * of the channel.
   */
  claim(channelId: string, owner: string, at: number, until: number): Promise<Delivery | null>;
  /**
   * When an earlier, unfinished delivery of the same alert to the same channel is due; null if there is none. If the
   * rule groups its alerts, this is any delivery about its fired ones.
   */
  predecessorDueAt(delivery: Delivery): Promise<number | null>;
  /**
   * Stores the state after an attempt, to be published, and ends the lease. False if the lease was lost. With
   * `holdChannelUntil`, the channel is on hold until then, even if the lease was lost. If the delivery itself waits
   * only for that, it keeps its place before later ones. `along` runs in the transaction that stores the state.
   */
  conclude(
    delivery: Delivery,
    owner: string,
    state: DeliveryState,
    holdChannelUntil: number | null,
    along?: (session: ClientSession) => Promise<void>,
  ): Promise<boolean>;
  /** Ends the lease without an attempt. The delivery is due again at `until`. */
  postpone(delivery: Delivery, owner: string, until: number): Promise<void>;
  /** Ends the lease without an attempt. The delivery is due at the same time as before. */
  release(delivery: Delivery, owner: string): Promise<void>;
  /** Extends the leases of `owner` on the deliveries in progress. */
  renew(owner: string, notificationIds: readonly string[], until: number): Promise<void>;
  /** Ends expired leases. Their owners have died or could not store a result. */
  freeExpired(at: number, exceptIds: readonly string[]): Promise<void>;
  /** Deliveries whose state is not yet reported to alerts, at most `limit`. */
  unpublished(limit: number): Promise<Delivery[]>;
  /** Records that these states were published. A newer state stays unpublished. */
  markPublished(deliveries: readonly Delivery[]): Promise<void>;
  /** Number of unfinished deliveries. */
  depth(): Promise<number>;
  /** When the oldest unfinished delivery was stored; null if there is none. */
  oldestStoredAt(): Promise<number | null>;
}

/** A lease lost by a server costs a second attempt. Waiting for the journal at every first attempt would cost more. */
const UNJOURNALED = { writeConcern: { w: 1 } };

/** Deliveries in the database of `connection`. Make it before the connection starts. */
export function createDeliveryStore(connection: Connection): DeliveryStore {
  // The driver's collection: every value below is typed or made here, and mongoose would cast each field of the alert.
  const deliveries = driverCollection<DeliveryDocument>(connection, 'Delivery', deliverySchema);
  const holds = createChannelHolds(connection);

  return {
    async add(session, batch, at) {
      const byId = new Map(batch.map((stored) => [stored.notification.notificationId, stored]));
      const ids = { _id: { $in: [...byId.keys()] } };
      const known = await deliveries.find(ids, { session, projection: { _id: 1, sequence: 1 } }).toArray();
      for (const { _id } of known) byId.delete(_id);
      // Once its database is restored, alerts queues them again, and may have read the reports before it did.
      const reported = known.filter(({ sequence }) => sequence > 0).map(({ _id }) => _id);
      if (reported.length > 0) {
        await deliveries.updateMany({ _id: { $in: reported } }, { $set: { unpublished: true } }, { session });
      }
      const fresh = [...byId.values()].map((stored) => fromNotification(stored, at));
      if (fresh.length > 0) await deliveries.insertMany(fresh, { session });
      return fresh.length;
    },

    async dueChannels(at) {
      // With both ranges given, the scan skips from channel to channel in the index. Its cost depends on the number of
      // channels with due deliveries, not on the number of deliveries.
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
      const held = await holds.among(channelIds, at);
      return channelIds.filter((channelId) => !held.has(channelId));
    },

    async predecessorDueAt({ notification, offset }) {
      const { channelId } = notification;
      const predecessor = await deliveries.findOne(
        { ...sameSubject(notification), channelId, offset: { $lt: offset }, nextAttemptAt: { $exists: true } },
        { projection: { nextAttemptAt: 1 }, sort: { offset: 1 } },
      );
      return predecessor?.nextAttemptAt?.getTime() ?? null;
    },

    async conclude(delivery, owner, state, holdChannelUntil, along) {
      if (holdChannelUntil !== null) await holds.hold(delivery.notification.channelId, holdChannelUntil);
      const { $set, $unset } = nextPlace(state, holdChannelUntil);
      const update = {
        $set: { ...fromState(state), ...$set, sequence: delivery.sequence + 1, unpublished: true as const },
        $unset: { ...$unset, lease: 1 as const },
      };
      const store = async (session?: ClientSession): Promise<boolean> =>
        (await deliveries.updateOne(leased(delivery, owner), update, { session })).matchedCount === 1;
      if (along === undefined) return store();
      return withTransaction(connection, async (session) => {
        const isStored = await store(session);
        if (isStored) await along(session);
        return isStored;
      });
    },

    ...leasing(deliveries, holds),

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
      // With both ranges given, the index alone answers the query.
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

/** What the messages have that this one must not overtake. */
const sameSubject = ({ alert, group }: Delivery['notification']) =>
  group === undefined
    ? { 'alert.id': alert.id }
    : { 'alert.rule_id': alert.rule_id, group: { $exists: true }, type: 'alert.fired' as const };

const leased = ({ notification, sequence }: Delivery, owner: string) => ({
  _id: notification.notificationId,
  sequence,
  'lease.owner': owner,
});

type Leasing = Pick<DeliveryStore, 'claim' | 'postpone' | 'release' | 'renew' | 'freeExpired'>;

function leasing(deliveries: mongo.Collection<DeliveryDocument>, holds: ChannelHolds): Leasing {
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

  return {
    async claim(channelId, owner, at, until) {
      const delivery = await lease(channelId, owner, at, until);
      if (delivery === null) return null;
      // Checked while the lease is held. The previous attempt stored its hold before it ended its lease, so the hold is
      // visible.
      if (!(await holds.among([channelId], at)).has(channelId)) return delivery;
      await release(delivery, owner);
      return null;
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
  };
}

interface PlaceChange {
  $set: Pick<DeliveryDocument, 'nextAttemptAt' | 'heldUntil' | 'finishedAt'>;
  $unset: Record<string, 1>;
}

/** The place of a delivery in its channel in this state; a finished one has none. */
function nextPlace({ nextAttemptAt }: DeliveryState, holdChannelUntil: number | null): PlaceChange {
  if (nextAttemptAt === null) return { $set: { finishedAt: new Date() }, $unset: { nextAttemptAt: 1, heldUntil: 1 } };
  const at = new Date(nextAttemptAt);
  if (holdChannelUntil !== null && nextAttemptAt <= holdChannelUntil) return { $set: { heldUntil: at }, $unset: {} };
  return { $set: { nextAttemptAt: at }, $unset: { heldUntil: 1 } };
}
