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
  /** Most quick attempts at the same time, and most slow ones that are begun. */
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
/** An attempt that lasts longer is slow, and so is its channel until an attempt is quicker. */
const SLOW_MS = 2000;
const REMEMBERED_CHANNELS = 10_000;
/** Deliveries that a channel has made in a row before others that wait for a place get theirs. */
const FAIR_SHARE = 20;

/** What a channel under way takes up. */
interface Place {
  notificationId: string;
  pace: 'quick' | 'slow';
}

/**
 * Works on what is due. Each channel has one attempt at a time, in the order of its notifications; a delivery that
 * waits for its retry lets those behind it pass, except those of the same alert. Channels that wait for a place get it
 * in turn, the one that had none for longest first.
 *
 * There are places for quick attempts and as many for slow ones. An attempt that turns out to be slow gives its quick
 * place back while it runs, so that none is held for longer than {@link SLOW_MS} at a time, however many destinations
 * hang.
 */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): Loop {
  const { store, attempt, inTrace, onSettled, concurrency, clock, logger } = deps;
  const owner = randomUUID();
  /** What is under way, by channel. */
  const underWay = new Map<string, Place & { done: Promise<void> }>();
  const taken = { quick: 0, slow: 0 };
  const slowChannels = new LRUCache<string, true>({ max: REMEMBERED_CHANNELS });
  /** Numbers the times that a channel gave its place up; of each channel the last one is remembered. */
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
        // The lease runs out, and then the delivery is due again.
        logger.warn(
          { err, notification_id: place.notificationId },
          'a delivery failed to be worked on; it is tried again',
        );
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

  /** Works on what the channel has due, up to a fair share and while it is neither slow nor on hold. */
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

  /** Null when an earlier notification of the alert comes first, and when the attempt was cut off. */
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
