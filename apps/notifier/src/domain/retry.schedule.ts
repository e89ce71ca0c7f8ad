const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

/**
 * Pauses are longer by a random share up to this one, so that deliveries that failed together are not retried together.
 */
const JITTER = 0.2;
/** Longest pause that a destination can ask for. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Milliseconds to wait after failed attempt number `attempts`, from 1, by the pauses of the channel; null after the
 * last attempt. `random` returns a number in [0, 1).
 */
export function retryPauseMs(pausesMs: readonly number[], attempts: number, random: () => number): number | null {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 + JITTER * random()));
}

/**
 * Milliseconds that a `Retry-After` asks for, at most {@link MAX_RETRY_AFTER_MS}. It is whole seconds or an HTTP date
 * (RFC 9110 §10.2.3). 0 when the header is missing or malformed.
 */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const askedMs = /^\d+$/.test(text) ? Number(text) * SECOND_MS : HTTP_DATE.test(text) ? Date.parse(text) - now : 0;
  return Math.min(Math.max(askedMs || 0, 0), MAX_RETRY_AFTER_MS);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
