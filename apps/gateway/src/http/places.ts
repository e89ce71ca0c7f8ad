import { AppError } from '@tollkeeper/kernel';
import type { EdgeResponse } from './exchange.ts';

/**
 * Bounds the requests in flight to one service, each with a connection of its own, so that requests to a service that
 * hangs do not pile up.
 */
export interface Places {
  /**
   * Takes a place for a request. If all are taken, the answer whose client has not read for longest is aborted; if
   * there is none, this throws `service_unavailable`.
   */
  take(res: EdgeResponse): void;
  /** Returns the place of a request. Idempotent. */
  leave(res: EdgeResponse): void;
  /** Marks an answer as waiting for its client, and calls `onDrain` when the client has read. */
  wait(res: EdgeResponse, onDrain: () => void): void;
  /** Whether an answer waits for its client. */
  isWaiting(res: EdgeResponse): boolean;
}

/** More than one sender may have in flight, but few enough to fit into memory. */
export const MAX_IN_FLIGHT = 1024;

/**
 * An answer loses its place to another request when it has sent nothing for this long. The system buffers up to a
 * megabyte at a time, so a client that reads 100 kB/s keeps its place.
 */
const UNREAD_MS = 10_000;

export function createPlaces(name: string, max: number): Places {
  const taken = new Set<EdgeResponse>();
  /** Answers that wait for their clients, with the time since when; the longest wait comes first. */
  const unread = new Map<EdgeResponse, number>();

  /** Aborts the answer whose client has not read for longest; false if none has waited long enough. */
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
  const message = `The ${name} service is at its maximum of requests in progress. Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}
