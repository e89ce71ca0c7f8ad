import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';
import { createLeases } from './delivery.leases.ts';
import { createPlaces, type Place } from './delivery.places.ts';
import type { TakeStep } from './delivery.step.ts';

export interface DeliveryWorkerDeps {
  store: DeliveryStore;
  takeStep: TakeStep;
  /** Maximum number of concurrent quick attempts, and also of slow ones. */
  concurrency: number;
  pollIntervalMs: number;
  clock: Clock;
  logger: Logger;
}

/** Milliseconds for attempts to finish during a stop. Then they are aborted, and repeated after the next start. */
const STOP_GRACE_MS = 4000;
/** Maximum number of consecutive deliveries of a channel while other channels wait for a place. */
const FAIR_SHARE = 20;

/** The work in progress on a channel. */
interface Work {
  notificationId: string;
  place: Place;
  done: Promise<void>;
}

/**
 * Works on due deliveries. Each channel has one attempt at a time, in the order of its notifications. While a delivery
 * waits for its retry, later ones pass it, except those of the same alert. Waiting channels take turns.
 */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): Loop {
  const { store, takeStep, concurrency, clock, logger } = deps;
  /** By channel. */
  const inProgress = new Map<string, Work>();
  const places = createPlaces(concurrency);
  const notificationIds = () => [...inProgress.values()].map(({ notificationId }) => notificationId);
  const leases = createLeases({ store, inProgress: notificationIds, clock, logger });
  const cut = new AbortController();
  let stopping = false;

  async function takeUp(): Promise<void> {
    const due = await store.dueChannels(clock());
    for (const channelId of places.inTurn(due)) {
      if (stopping) return;
      if (inProgress.has(channelId) || !places.hasRoom(channelId)) continue;
      const delivery = await leases.claim(channelId);
      if (delivery !== null) begin(channelId, delivery);
    }
  }

  function begin(channelId: string, first: Delivery): void {
    const place = places.take(channelId);
    const work: Work = { notificationId: first.notification.notificationId, place, done: Promise.resolve() };
    inProgress.set(channelId, work);
    work.done = serve(channelId, first, work)
      .catch((err: unknown) => {
        // When the lease expires, the delivery is due again.
        const { notificationId: notification_id } = work;
        logger.warn({ err, notification_id }, 'a delivery could not be processed; retrying');
      })
      .finally(() => {
        inProgress.delete(channelId);
        places.giveBack(channelId, place);
        loop.wake();
      });
  }

  /**
   * Works on the due deliveries of a channel: at most a fair share, and only while the channel is neither slow nor on
   * hold.
   */
  async function serve(channelId: string, first: Delivery, work: Work): Promise<void> {
    const whenSlow = (): void => {
      if (places.becomeSlow(work.place)) loop.wake();
    };
    let delivery: Delivery | null = first;
    for (let share = FAIR_SHARE; delivery !== null; share -= 1) {
      work.notificationId = delivery.notification.notificationId;
      const result = await takeStep(delivery, { owner: leases.owner, signal: cut.signal, whenSlow });
      if (result?.kind === 'attempted') places.noteDuration(channelId, result.durationMs);
      const held = result?.kind === 'attempted' && result.holdChannelUntil !== null;
      if (stopping || share === 1 || held || work.place.pace === 'slow') return;
      delivery = await leases.claim(channelId);
    }
  }

  const loop = createLoop({ name: 'delivery-worker', work: takeUp, intervalMs: deps.pollIntervalMs, logger });
  const allDone = (): Promise<unknown> => Promise.all([...inProgress.values()].map(({ done }) => done));
  return {
    ...loop,
    async start() {
      await leases.start();
      await loop.start();
    },
    async stop() {
      stopping = true;
      await loop.stop();
      const grace = new AbortController();
      await Promise.race([allDone(), delay(STOP_GRACE_MS, undefined, { signal: grace.signal }).catch(() => undefined)]);
      grace.abort();
      cut.abort();
      await allDone();
      leases.stop();
    },
  };
}
