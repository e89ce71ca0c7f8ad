import type { ChannelType } from '@tollkeeper/contracts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const CHAT_PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];

/**
 * Milliseconds after each failed attempt. A message in a chat is of no use hours later, so chat gives up
 * after the pause of 30 minutes.
 */
export const RETRY_PAUSES_MS: Record<ChannelType, readonly number[]> = {
  chat: CHAT_PAUSES_MS,
  webhook: [...CHAT_PAUSES_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS],
};

/** Pauses grow by up to this share, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A destination that asks for more is tried again after this. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Milliseconds to wait after the failed attempt number `attempts` (1 for the first), or null when it was the last one.
 * `random` answers a number in [0, 1).
 */
export function retryPauseMs(channelType: ChannelType, attempts: number, random: () => number): number | null {
  const pauseMs = RETRY_PAUSES_MS[channelType][attempts - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 + JITTER * random()));
}

/**
 * Milliseconds that a `Retry-After` asks for, at most {@link MAX_RETRY_AFTER_MS}: whole seconds or an HTTP date
 * (RFC 9110 §10.2.3). 0 when there is none, or one that can't be read.
 */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const askedMs = /^\d+$/.test(text) ? Number(text) * SECOND_MS : HTTP_DATE.test(text) ? Date.parse(text) - now : 0;
  return Math.min(Math.max(askedMs || 0, 0), MAX_RETRY_AFTER_MS);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
