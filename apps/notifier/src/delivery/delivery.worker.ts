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
  /** Makes one attempt. Rejects only with the reason of the signal. */
  attempt: (delivery: Delivery, signal: AbortSignal) => Promise<AttemptResult>;
  inTrace: InTrace;
  /** Called when a state was stored. */
  onSettled: (delivery: Delivery, result: AttemptResult) => void;
  /** Most quick attempts at the same time, and most slow attempts. */
  concurrency: number;
  pollIntervalMs: number;
  clock: Clock;
  logger: Logger;
}

/** Milliseconds after which other workers take over the deliveries of a killed one. */
const LEASE_MS = 5000;
const HEARTBEAT_MS = LEASE_MS / 4;
/**
 * Milliseconds that attempts may take to finish at a stop. Then they are cut off, and repeated after the next start.
 */
const STOP_GRACE_MS = 4000;
/** An attempt is slow after this time. Its channel stays slow until one of its attempts is quick. */
const SLOW_MS = 2000;
const REMEMBERED_CHANNELS = 10_000;
/** Most deliveries of a channel in a row while other channels wait for a place. */
const FAIR_SHARE = 20;

/** The resources of a channel with an attempt in flight. */
interface Place {
  notificationId: string;
  pace: 'quick' | 'slow';
}

/**
 * Works on due deliveries. Each channel has one attempt at a time, in the order of its notifications. While a delivery
 * waits for its retry, later ones pass it, except those of the same alert. Channels that wait for a place take turns:
 * the one that has waited longest goes first.
 *
 * There are places for quick attempts and as many for slow ones. When an attempt turns out to be slow, it gives its
 * quick place back while it runs. So no quick place is held for longer than {@link SLOW_MS}, however many destinations
 * hang.
 */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): Loop {
  const { store, attempt, inTrace, onSettled, concurrency, clock, logger } = deps;
  const owner = randomUUID();
  /** The work in progress, by channel. */
  const underWay = new Map<string, Place & { done: Promise<void> }>();
  const taken = { quick: 0, slow: 0 };
  const slowChannels = new LRUCache<string, true>({ max: REMEMBERED_CHANNELS });
  /** Counts how often channels gave up their place. Each channel keeps the number of its last time. */
  let turn = 0;
  const lastTurns = new LRUCache<string, number>({ max: REMEMBERED_CHANNELS });
  const cut = new AbortController();
  let stopping = false;
  let heart: NodeJS.Timeout | undefined;

  const paceOf = (channelId: string): Place['pace'] => (slowChannels.has(channelId) ? 'slow' : 'quick');
  const lastTurn = (channelId: string): number => lastTurns.peek(channelId) ?? 0;

  async function takeUp(): Promise<void> {
    const due = await store.dueChannels(clock());
    for (const channelId of due.toSorted((one, other) => lastTurn(one) - lastTurn(other))) {
      if (stopping) return;
      if (underWay.has(channelId) || taken[paceOf(channelId)] >= concurrency) continue;
      const delivery = await claim(channelId);
      if (delivery !== null) begin(channelId, delivery);
    }
  }

  const claim = (channelId: string): Promise<Delivery | null> =>
    store.claim(channelId, owner, clock(), clock() + LEASE_MS);

  function begin(channelId: string, first: Delivery): void {
    const place: Place = { notificationId: first.notification.notificationId, pace: paceOf(channelId) };
    taken[place.pace] += 1;
    const done = serve(channelId, first, place)
      .catch((err: unknown) => {
        // When the lease ends, the delivery is due again.
        logger.warn({ err, notification_id: place.notificationId }, 'processing a delivery failed; retrying');
      })
      .finally(() => {
        underWay.delete(channelId);
        taken[place.pace] -= 1;
        lastTurns.set(channelId, (turn += 1));
        loop.wake();
      });
    underWay.set(channelId, Object.assign(place, { done }));
  }

  function becomeSlow(place: Place): void {
    if (place.pace === 'slow') return;
    taken.quick -= 1;
    taken.slow += 1;
    place.pace = 'slow';
    loop.wake();
  }

  /**
   * Works on the due deliveries of a channel: at most a fair share, and only while the channel is neither slow nor on
   * hold.
   */
  async function serve(channelId: string, first: Delivery, place: Place): Promise<void> {
    let delivery: Delivery | null = first;
    for (let share = FAIR_SHARE; delivery !== null; share -= 1) {
      place.notificationId = delivery.notification.notificationId;
      const result = await work(delivery, place);
      const held = result?.kind === 'attempted' && result.holdChannelUntil !== null;
      if (stopping || share === 1 || held || place.pace === 'slow') return;
      delivery = await claim(channelId);
    }
  }

  /** Null when an earlier notification of the alert must go first, and when the attempt was cut off. */
  async function work(delivery: Delivery, place: Place): Promise<AttemptResult | null> {
    if (delivery.notification.type === 'alert.resolved') {
      const predecessorDueAt = await store.predecessorDueAt(delivery);
      if (predecessorDueAt !== null) {
        await store.postpone(delivery, owner, predecessorDueAt);
        return null;
      }
    }
    return inTrace(delivery, () => attemptAndSettle(delivery, place));
  }

  async function attemptAndSettle(delivery: Delivery, place: Place): Promise<AttemptResult | null> {
    const timer = setTimeout(() => becomeSlow(place), SLOW_MS);
    let result: AttemptResult;
    try {
      result = await attempt(delivery, cut.signal);
    } catch (error) {
      if (!cut.signal.aborted) throw error;
      await store.release(delivery, owner);
      return null;
    } finally {
      clearTimeout(timer);
    }
    await settle(delivery, result);
    return result;
  }

  async function settle(delivery: Delivery, result: AttemptResult): Promise<void> {
    const { notificationId, tenantId, channelId } = delivery.notification;
    const log = logger.child({ notification_id: notificationId, tenant_id: tenantId, channel_id: channelId });
    if (result.kind === 'postponed') {
      log.warn({ err: result.cause }, 'the channel could not be read from alerts; the delivery waits');
      await store.postpone(delivery, owner, result.until);
    } else {
      const hold = result.kind === 'attempted' ? result.holdChannelUntil : null;
      const { status, attempts, responseStatus, error } = result.state;
      if (result.kind === 'attempted') rememberPace(channelId, result.durationMs);
      if (!(await store.settle(delivery, owner, result.state, hold))) {
        log.warn('the lease on a delivery was lost; its attempt does not count');
        return;
      }
      log.info(
        { delivery_status: status, attempts, response_status: responseStatus, reason: error },
        'attempt at a delivery',
      );
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
