import type { LogFields } from './log.fields.ts';
import type { Logger } from './logger.ts';

const EVERY_MS = 60_000;

/** Logs at most once a minute, for problems that affect every call. */
export type SparingWarner = (fields: LogFields) => void;

/** `now` is a monotonic clock in milliseconds. */
export function createSparingWarner(logger: Logger, now: () => number, message: string): SparingWarner {
  let last = -Infinity;
  return (fields) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    logger.warn(fields, message);
  };
}
