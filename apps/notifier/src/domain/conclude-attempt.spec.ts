import { describe, expect, it } from '@jest/globals';
import { CHANNEL_KINDS } from '../channels/channel.kinds.ts';
import { type DeliveryState, queuedState } from './delivery.ts';
import { type AttemptOutcome, concludeAttempt } from './conclude-attempt.ts';

const at = Date.parse('2026-11-21T18:00:00.000Z');
const queued = queuedState({ channelType: 'webhook' }, at);
const channel = { type: 'webhook', retryPausesMs: CHANNEL_KINDS.webhook.retryPausesMs } as const;
const answer = (status: number, retryAfter: string | null = null): AttemptOutcome => ({
  kind: 'answered',
  status,
  snippet: 'body',
  retryAfter,
});
const conclude = (outcome: AttemptOutcome, before: DeliveryState = queued) =>
  concludeAttempt(before, channel, outcome, at, () => 0);

describe('an attempt', () => {
  it.each([200, 201, 204, 299])('is the last one with a %s', (status) => {
    expect(conclude(answer(status))).toEqual({
      state: {
        status: 'delivered',
        channelType: 'webhook',
        attempts: 1,
        responseStatus: status,
        responseSnippet: 'body',
        error: null,
        lastAttemptAt: at,
        nextAttemptAt: null,
      },
      holdChannelUntil: null,
      isGone: false,
    });
  });

  it.each([400, 401, 403, 404, 405, 413, 422, 499])('stops at once with a %s', (status) => {
    expect(conclude(answer(status, '60'))).toMatchObject({
      state: { status: 'failed', error: `The destination answered ${status}.`, nextAttemptAt: null },
      holdChannelUntil: null,
    });
  });

  it.each([301, 302, 307, 408, 425, 429, 500, 502, 503, 504, 599])('is made again after a %s', (status) => {
    expect(conclude(answer(status)).state).toMatchObject({ status: 'retrying', nextAttemptAt: at + 5000 });
  });

  it('is retried without an answer, and not when the destination is blocked', () => {
    expect(conclude({ kind: 'unreachable', reason: 'No answer.' }).state).toMatchObject({
      status: 'retrying',
      error: 'No answer.',
      responseStatus: null,
    });
    expect(conclude({ kind: 'blocked', reason: 'Private.' }).state).toMatchObject({
      status: 'failed',
      error: 'Private.',
      nextAttemptAt: null,
    });
  });

  it('finds the destination gone with a 410, and only with that', () => {
    expect(conclude(answer(410))).toMatchObject({ state: { status: 'failed' }, isGone: true });
    expect(conclude(answer(404)).isGone).toBe(false);
  });

  it('fails for good after the last one of the schedule', () => {
    const before = { ...queued, status: 'retrying' as const, attempts: 8 };
    expect(conclude(answer(500), before).state).toMatchObject({ status: 'failed', attempts: 9, nextAttemptAt: null });
  });

  it('waits for the Retry-After where that is longer than the pause, and holds the channel for as long', () => {
    expect(conclude(answer(429, '120'))).toMatchObject({
      state: { nextAttemptAt: at + 120_000 },
      holdChannelUntil: at + 120_000,
    });
    expect(conclude(answer(503, '1'))).toMatchObject({
      state: { nextAttemptAt: at + 5000 },
      holdChannelUntil: at + 1000,
    });
  });
});
