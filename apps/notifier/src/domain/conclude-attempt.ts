import type { ChannelType } from '@tollkeeper/contracts';
import type { DeliveryState } from './delivery.ts';
import { retryAfterMs, retryPauseMs } from './retry.schedule.ts';

/** The outcome of sending a message. Reasons are sentences for people, without URL, address or secret. */
export type AttemptOutcome =
  /**
   * `snippet` is at most 1 KiB of text. `retryAfter` is the header as received. Mail that the mail server has accepted
   * for everybody is answered with its 250.
   */
  | { kind: 'answered'; status: number; snippet: string; retryAfter: string | null }
  /** No answer, because of the name, the connection, TLS or a timeout. */
  | { kind: 'unreachable'; reason: string }
  /** The destination is not allowed, or refuses permanently, or nobody may get mail. A further attempt is useless. */
  | { kind: 'blocked'; reason: string };

export interface Conclusion {
  state: DeliveryState;
  /** The destination accepts no notification before this time, in epoch milliseconds. */
  holdChannelUntil: number | null;
  /** The destination answered that it is permanently gone. */
  isGone: boolean;
}

/** Client errors that may be temporary. After any other one, the delivery fails at once. */
const PASSING_CLIENT_ERRORS = new Set([408, 425, 429]);
const GONE = 410;

/**
 * The state after an attempt that ended at `at` (epoch milliseconds). A 2xx means delivered. A blocked destination, a
 * permanent client error, or the last attempt of the schedule means failed. Otherwise the delivery is due again, after
 * both the pause of the schedule and the `Retry-After` of the answer.
 */
export function concludeAttempt(
  before: DeliveryState,
  { type: channelType, retryPausesMs }: { type: ChannelType; retryPausesMs: readonly number[] },
  outcome: AttemptOutcome,
  at: number,
  random: () => number,
): Conclusion {
  const attempts = before.attempts + 1;
  const answered = outcome.kind === 'answered' ? outcome : null;
  const attempted = {
    channelType,
    attempts,
    responseStatus: answered?.status ?? null,
    responseSnippet: answered?.snippet ?? null,
    lastAttemptAt: at,
  };
  const isGone = answered?.status === GONE;
  if (answered !== null && isSuccess(answered.status)) {
    return {
      state: { ...attempted, status: 'delivered', error: null, nextAttemptAt: null },
      holdChannelUntil: null,
      isGone,
    };
  }
  const error = outcome.kind === 'answered' ? describeRefusal(outcome.status) : outcome.reason;
  const waitMs = retryAfterMs(answered?.retryAfter ?? null, at);
  const holdChannelUntil = waitMs > 0 && isWorthRepeating(outcome) ? at + waitMs : null;
  const pauseMs = isWorthRepeating(outcome) ? retryPauseMs(retryPausesMs, attempts, random) : null;
  const state: DeliveryState =
    pauseMs === null
      ? { ...attempted, status: 'failed', error, nextAttemptAt: null }
      : { ...attempted, status: 'retrying', error, nextAttemptAt: at + Math.max(pauseMs, waitMs) };
  return { state, holdChannelUntil, isGone };
}

/** The state of a delivery that ends without a further attempt, because its channel is deleted or disabled. */
export function abandon(before: DeliveryState, reason: string): DeliveryState {
  return { ...before, status: 'failed', error: reason, nextAttemptAt: null };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function isWorthRepeating(outcome: AttemptOutcome): boolean {
  if (outcome.kind !== 'answered') return outcome.kind === 'unreachable';
  const { status } = outcome;
  return status < 400 || status >= 500 || PASSING_CLIENT_ERRORS.has(status);
}

function describeRefusal(status: number): string {
  if (status === GONE) return 'The destination answered 410 Gone, so the channel was disabled.';
  if (status >= 300 && status < 400) {
    return `The destination answered ${status}. Redirects are not followed; set the final address instead.`;
  }
  return `The destination answered ${status}.`;
}
