import type { Logger } from '@tollkeeper/runtime';
import type { ClientSession } from 'mongoose';
import type { MongoChannelStore } from '../channels/channel.store.ts';
import type { AttemptResult } from '../domain/attempt-delivery.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';
import { SLOW_MS } from './delivery.places.ts';
import type { InTrace } from './delivery.tracing.ts';

/**
 * Takes a leased delivery one step further: makes an attempt, unless an earlier notification of the alert must go
 * first, and stores its result. Null if there is no result: the delivery must wait, or the attempt was aborted.
 */
export type TakeStep = (delivery: Delivery, by: Worker) => Promise<AttemptResult | null>;

interface Worker {
  /** Owner of the lease. */
  owner: string;
  /** Aborts the attempt. */
  signal: AbortSignal;
  /** Called when the attempt turns out to be slow. */
  whenSlow: () => void;
}

export interface DeliveryStepDeps {
  store: Pick<DeliveryStore, 'predecessorDueAt' | 'postpone' | 'release' | 'conclude'>;
  channels: Pick<MongoChannelStore, 'disable'>;
  /** Makes one attempt. Rejects with the reason of the signal, or if the channel cannot be read. */
  attempt: (delivery: Delivery, signal: AbortSignal) => Promise<AttemptResult>;
  inTrace: InTrace;
  /** Called after a state was stored. */
  onConcluded: (delivery: Delivery, result: AttemptResult) => void;
  logger: Logger;
}

export function createDeliveryStep(deps: DeliveryStepDeps): TakeStep {
  const { store, attempt, inTrace, onConcluded } = deps;

  async function mustWait(delivery: Delivery, owner: string): Promise<boolean> {
    if (delivery.notification.type === 'alert.fired') return false;
    const predecessorDueAt = await store.predecessorDueAt(delivery);
    if (predecessorDueAt === null) return false;
    await store.postpone(delivery, owner, predecessorDueAt);
    return true;
  }

  async function attemptAndConclude(
    delivery: Delivery,
    { owner, signal, whenSlow }: Worker,
  ): Promise<AttemptResult | null> {
    const timer = setTimeout(whenSlow, SLOW_MS);
    let result: AttemptResult;
    try {
      result = await attempt(delivery, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await store.release(delivery, owner);
      return null;
    } finally {
      clearTimeout(timer);
    }
    if (await conclude(deps, delivery, owner, result)) onConcluded(delivery, result);
    return result;
  }

  return async (delivery, by) =>
    (await mustWait(delivery, by.owner)) ? null : inTrace(delivery, () => attemptAndConclude(delivery, by));
}

/** False if the lease was lost. If the destination is gone, its channel is disabled in the same transaction. */
async function conclude(
  { store, channels, logger }: DeliveryStepDeps,
  delivery: Delivery,
  owner: string,
  result: AttemptResult,
): Promise<boolean> {
  const { notificationId, tenantId, channelId } = delivery.notification;
  const log = logger.child({ notification_id: notificationId, tenant_id: tenantId, channel_id: channelId });
  const attempted = result.kind === 'attempted' ? result : null;
  let isDisabled = false;
  const disable = async (session: ClientSession, revision: number): Promise<void> => {
    isDisabled = await channels.disable(session, tenantId, channelId, revision);
  };
  const along = attempted?.isGone ? (session: ClientSession) => disable(session, attempted.channelRevision) : undefined;
  if (!(await store.conclude(delivery, owner, result.state, attempted?.holdChannelUntil ?? null, along))) {
    log.warn('the lease of a delivery was lost; its attempt does not count');
    return false;
  }
  const { status, attempts, responseStatus, error } = result.state;
  log.info({ delivery_status: status, attempts, response_status: responseStatus, reason: error }, 'delivery attempted');
  if (isDisabled) log.warn('a channel was disabled because its destination answered 410 Gone');
  return true;
}
