import { AppError } from '@tollkeeper/kernel';
import type { EdgeResponse } from './exchange.ts';

/**
 * Requests to one service at a time, each on a connection of its own: those of a service that hangs must not pile up
 * here.
 */
export interface Places {
  /**
   * Takes a place for a request. When all are taken, the answer whose client has read nothing for longest is broken
   * off; without one, this throws `service_unavailable`.
   */
  take(res: EdgeResponse): void;
  /** Gives the place of a request back. Idempotent. */
  leave(res: EdgeResponse): void;
  /** Notes that an answer waits for its client, and calls `onDrain` when that has read. */
  wait(res: EdgeResponse, onDrain: () => void): void;
  /** Whether an answer waits for its client. */
  isWaiting(res: EdgeResponse): boolean;
}

/** More than one sender may have in progress, and less than what would take too much memory. */
export const MAX_IN_FLIGHT = 1024;

/**
 * An answer gives its place to another request when nothing of it went out for this long. The system takes up to a
 * megabyte of it at a time, so a client that reads 100 kB/s keeps its place.
 */
const UNREAD_MS = 10_000;

export function createPlaces(name: string, max: number): Places {
  const taken = new Set<EdgeResponse>();
  /** Answers that wait for their clients, and since when; the one that waits longest first. */
  const unread = new Map<EdgeResponse, number>();

  /** Breaks off the answer whose client has read nothing for longest; false when none has waited long. */
  function makeRoom(): boolean {
    const [longest] = unread;
    if (longest === undefined || performance.now() - longest[1] < UNREAD_MS) return false;
    unread.delete(longest[0]);
    longest[0].destroy();
    return true;
  }

  return {
    take(res) {
      if (taken.size >= max && !makeRoom()) throw tooBusy(name);
      taken.add(res);
      res.once('close', () => unread.delete(res));
    },
    leave: (res) => void taken.delete(res),
    wait(res, onDrain) {
      unread.set(res, performance.now());
      res.once('drain', () => {
        unread.delete(res);
        onDrain();
      });
    },
    isWaiting: (res) => unread.has(res),
  };
}

function tooBusy(name: string): AppError {
  const message = `The ${name} service has as many requests in progress as it can take. Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}
