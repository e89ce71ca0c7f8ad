const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

/** Pauses are extended by a random share up to this, so that deliveries that failed together are retried apart. */
const JITTER = 0.2;
/** Maximum pause that a destination can request. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Milliseconds to wait after failed attempt number `attempts`, counted from 1, by the pauses of the channel; null after
 * the last attempt. `random` returns a number in [0, 1).
 */
export function retryPauseMs(pausesMs: readonly number[], attempts: number, random: () => number): number | null {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 + JITTER * random()));
}

/**
 * The pause in milliseconds that a `Retry-After` requests, at most {@link MAX_RETRY_AFTER_MS}. The header is whole
 * seconds or an HTTP date (RFC 9110 §10.2.3). 0 if it is missing or malformed.
 */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const askedMs = /^\d+$/.test(text) ? Number(text) * SECOND_MS : HTTP_DATE.test(text) ? Date.parse(text) - now : 0;
  return Math.min(Math.max(askedMs || 0, 0), MAX_RETRY_AFTER_MS);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
