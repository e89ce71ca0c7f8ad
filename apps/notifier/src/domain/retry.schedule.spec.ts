import { describe, expect, it } from '@jest/globals';
import { CHANNEL_KINDS } from '../channels/channel.kinds.ts';
import { MAX_RETRY_AFTER_MS, retryAfterMs, retryPauseMs } from './retry.schedule.ts';

const now = Date.parse('2026-11-21T18:00:00.000Z');

describe('the schedule of retries', () => {
  it('is 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h for webhooks and ends for chats at 30 min', () => {
    const seconds = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000];
    expect(CHANNEL_KINDS.webhook.retryPausesMs).toEqual(seconds.map((pause) => pause * 1000));
    expect(CHANNEL_KINDS.chat.retryPausesMs).toEqual(seconds.slice(0, 5).map((pause) => pause * 1000));
  });

  it.each(['chat', 'webhook'] as const)('ends after the last pause of %s', (type) => {
    const pausesMs = CHANNEL_KINDS[type].retryPausesMs;
    expect(retryPauseMs(pausesMs, pausesMs.length, () => 0)).not.toBeNull();
    expect(retryPauseMs(pausesMs, pausesMs.length + 1, () => 0)).toBeNull();
  });

  it('never comes early, and late by less than a fifth', () => {
    expect(retryPauseMs([5000], 1, () => 0)).toBe(5000);
    expect(retryPauseMs([5000], 1, () => 0.999_999)).toBe(6000);
  });
});

describe('Retry-After', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['blanks around it', ' 7 ', 7000],
    ['an HTTP date', 'Sat, 21 Nov 2026 18:02:00 GMT', 120_000],
    ['a date that has passed', 'Sat, 21 Nov 2026 17:00:00 GMT', 0],
    ['more than the limit', '999999', MAX_RETRY_AFTER_MS],
    ['a number beyond all measure', '9'.repeat(400), MAX_RETRY_AFTER_MS],
    ['a date beyond all measure', 'Sat, 21 Nov 9999 17:00:00 GMT', MAX_RETRY_AFTER_MS],
    ['a negative number', '-5', 0],
    ['words', 'soon', 0],
    ['a date that is none', 'Xxx, 99 Xxx 2026 18:02:00 GMT', 0],
    ['another date format', '2026-11-21T18:02:00Z', 0],
    ['nothing', null, 0],
  ])('is read as %s', (_case, header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
