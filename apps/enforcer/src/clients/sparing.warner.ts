import type { Logger } from '@tollkeeper/runtime';

const EVERY_MS = 60_000;

/** Logs a failure at most once a minute, because a service that is away fails for every call. */
export type SparingWarner = (err: unknown) => void;

/** `now` is a monotonic clock in milliseconds. */
export function createSparingWarner(logger: Logger, now: () => number, message: string): SparingWarner {
  let last = -Infinity;
  return (err) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    logger.warn({ err }, message);
  };
}
