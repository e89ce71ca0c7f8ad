import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { ChannelDirectory } from './channel.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import { type SendRequest, toDestinationRequest } from './destination.request.ts';
import { toMessage } from './message.ts';
import { abandon, settleAttempt, type Settlement } from './settle-attempt.ts';

/** A link to the alert; without an id, to all alerts. Never rejects. */
export type AlertUrl = (tenantId: TenantId, alertId?: string) => Promise<string>;

export interface AttemptDeps {
  channels: ChannelDirectory;
  alertUrl: AlertUrl;
  send: SendRequest;
  clock: Clock;
  /** A number in [0, 1). */
  random: () => number;
}

export type AttemptResult =
  /** A request was made. `durationMs` is how long it took. */
  | ({ kind: 'attempted'; durationMs: number } & Settlement)
  /** The channel is gone or disabled. */
  | { kind: 'abandoned'; state: DeliveryState }
  /**
   * The alerts service did not answer. There was no attempt; the delivery is due again at `until` (epoch milliseconds).
   */
  | { kind: 'postponed'; until: number; cause: unknown };

const ALERTS_PAUSE_MS = 3000;

/** Makes one attempt at a delivery. Rejects only with the reason of `signal`. */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { channels, alertUrl, send, clock, random } = deps;
  const { tenantId, channelId, alert } = delivery.notification;
  const channel = await channels.find(tenantId, channelId).catch(toAppError);
  if (channel instanceof AppError) {
    return { kind: 'postponed', until: clock() + Math.round(ALERTS_PAUSE_MS * (1 + random())), cause: channel };
  }
  if (channel === null) return { kind: 'abandoned', state: abandon(delivery, 'The channel was deleted.') };
  if (!channel.enabled) return { kind: 'abandoned', state: abandon(delivery, 'The channel is disabled.') };

  const message = toMessage(delivery.notification, await alertUrl(tenantId, alert.id));
  const startedAt = performance.now();
  const outcome = await send(toDestinationRequest(channel, message, clock()), signal);
  const durationMs = performance.now() - startedAt;
  return { kind: 'attempted', durationMs, ...settleAttempt(delivery, channel.type, outcome, clock(), random) };
}

function toAppError(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('internal', 'Alerts did not answer.', { cause });
}
