import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { AttemptResult } from '../domain/attempt-delivery.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { InTrace } from './delivery.tracing.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

export interface DeliveryWorkerDeps {
  store: DeliveryStore;
  /** Makes one attempt; rejects only with the reason of the signal. */
  attempt: (delivery: Delivery, signal: AbortSignal) => Promise<AttemptResult>;
  inTrace: InTrace;
  /** Called when a state was stored. */
  onSettled: (delivery: Delivery, result: AttemptResult) => void;
  /** Most attempts at the same time. */
  concurrency: number;
  pollIntervalMs: number;
  clock: Clock;
  logger: Logger;
}

/** A killed worker's deliveries are taken up by others after this. */
const LEASE_MS = 5000;
const HEARTBEAT_MS = LEASE_MS / 4;
/** Attempts under way may finish for so long at a stop; then they are cut off and made again by the next start. */
const STOP_GRACE_MS = 4000;
/** A channel whose last attempt took this long is slow. */
const SLOW_MS = 2000;
const REMEMBERED_CHANNELS = 10_000;
/** Deliveries that a channel has made in a row before others that wait for a place get theirs. */
const FAIR_SHARE = 20;

/**
 * Works on what is due. Each channel has one attempt at a time, in the order of its notifications; a delivery that waits
 * for its retry lets those behind it pass, except those of the same alert. Slow channels have at most half of the
 * places, so that however many destinations hang, there is room for the others.
 */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): Loop {
  const { store, attempt, inTrace, onSettled, concurrency, clock, logger } = deps;
  const owner = randomUUID();
  /** What is under way, by channel. */
  const underWay = new Map<string, { notificationId: string; slow: boolean; done: Promise<void> }>();
  const slowChannels = new LRUCache<string, true>({ max: REMEMBERED_CHANNELS });
  const cut = new AbortController();
  let stopping = false;
  let heart: NodeJS.Timeout | undefined;

  function hasPlaceFor(channelId: string): boolean {
    if (underWay.has(channelId) || underWay.size >= concurrency) return false;
    if (!slowChannels.has(channelId)) return true;
    return [...underWay.values()].filter(({ slow }) => slow).length < concurrency / 2;
  }

  async function takeUp(): Promise<void> {
    for (const channelId of await store.dueChannels(clock())) {
      if (stopping) return;
      if (!hasPlaceFor(channelId)) continue;
      const delivery = await claim(channelId);
      if (delivery !== null) begin(channelId, delivery);
    }
  }

  const claim = (channelId: string): Promise<Delivery | null> =>
    store.claim(channelId, owner, clock(), clock() + LEASE_MS);

  function begin(channelId: string, first: Delivery): void {
    const place = { notificationId: first.notification.notificationId, slow: slowChannels.has(channelId) };
    const done = serve(channelId, first, place)
      .catch((err: unknown) => {
        // The lease runs out, and then the delivery is due again.
        logger.warn(
          { err, notification_id: place.notificationId },
          'a delivery failed to be worked on; it is tried again',
        );
      })
      .finally(() => {
        underWay.delete(channelId);
        loop.wake();
      });
    underWay.set(channelId, Object.assign(place, { done }));
  }

  /** Works on what the channel has due, up to a fair share and while it is not slow. */
  async function serve(channelId: string, first: Delivery, place: { notificationId: string }): Promise<void> {
    let delivery: Delivery | null = first;
    for (let share = FAIR_SHARE; delivery !== null; share -= 1) {
      place.notificationId = delivery.notification.notificationId;
      await work(delivery);
      if (stopping || share === 1 || slowChannels.has(channelId)) return;
      delivery = await claim(channelId);
    }
  }

  async function work(delivery: Delivery): Promise<void> {
    if (delivery.notification.type === 'alert.resolved') {
      const predecessorDueAt = await store.predecessorDueAt(delivery);
      if (predecessorDueAt !== null) return store.postpone(delivery, owner, predecessorDueAt);
    }
    await inTrace(delivery, () => attemptAndSettle(delivery));
  }

  async function attemptAndSettle(delivery: Delivery): Promise<void> {
    let result: AttemptResult;
    try {
      result = await attempt(delivery, cut.signal);
    } catch (error) {
      if (cut.signal.aborted) return store.postpone(delivery, owner, delivery.nextAttemptAt ?? clock());
      throw error;
    }
    await settle(delivery, result);
  }

  async function settle(delivery: Delivery, result: AttemptResult): Promise<void> {
    const { notificationId, tenantId, channelId } = delivery.notification;
    const log = logger.child({ notification_id: notificationId, tenant: tenantId, channel_id: channelId });
    if (result.kind === 'postponed') {
      log.warn({ err: result.cause }, 'alerts could not be asked for the channel; the delivery waits');
      await store.postpone(delivery, owner, result.until);
    } else {
      const hold = result.kind === 'attempted' ? result.holdChannelUntil : null;
      const { status, attempts, responseStatus, error } = result.state;
      if (result.kind === 'attempted') rememberPace(channelId, result.durationMs);
      if (!(await store.settle(delivery, owner, result.state, hold))) {
        log.warn('the lease on a delivery was lost; its attempt does not count');
        return;
      }
      log.info({ status, attempts, response_status: responseStatus, reason: error }, 'attempt at a delivery');
    }
    onSettled(delivery, result);
  }

  function rememberPace(channelId: string, durationMs: number): void {
    if (durationMs > SLOW_MS) slowChannels.set(channelId, true);
    else slowChannels.delete(channelId);
  }

  async function beat(): Promise<void> {
    const ids = [...underWay.values()].map(({ notificationId }) => notificationId);
    if (ids.length > 0) await store.renew(owner, ids, clock() + LEASE_MS);
    await store.freeExpired(clock(), ids);
  }

  function beatAgain(): void {
    heart = setTimeout(() => {
      beat()
        .catch((err: unknown) => logger.warn({ err }, 'leases on deliveries could not be renewed'))
        .finally(() => heart && beatAgain());
    }, HEARTBEAT_MS);
  }

  const loop = createLoop({ name: 'delivery-worker', work: takeUp, intervalMs: deps.pollIntervalMs, logger });
  const allDone = (): Promise<unknown> => Promise.all([...underWay.values()].map(({ done }) => done));
  return {
    ...loop,
    async start() {
      await beat();
      beatAgain();
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
      clearTimeout(heart);
      heart = undefined;
    },
  };
}
