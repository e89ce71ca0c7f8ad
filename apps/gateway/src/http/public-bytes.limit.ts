import type { CountRefusal } from '@tollkeeper/http';
import { AppError, roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { EdgeResponse } from './exchange.ts';

export interface PublicBytesLimit {
  /**
   * Counts the bytes of an answer to `address` once it is over. Throws `rate_limited` while the address has taken more
   * than it may, and then has the connection closed, with the requests that were sent ahead on it.
   */
  enter(address: string, res: EdgeResponse): void;
}

/** An address that has been quiet may take as much at once as this many seconds allow. */
const BURST_SECONDS = 30;
const MAX_ADDRESSES = 50_000;

/**
 * Bounds what one address takes of the answers that need no session and no key, such as pages. They are large beside
 * their requests, and the system takes megabytes of them for a connection whose client reads nothing.
 *
 * @param now monotonic milliseconds
 */
export function createPublicBytesLimit(
  bytesPerSecond: number,
  countRefusal: CountRefusal,
  now: () => number = () => performance.now(),
): PublicBytesLimit {
  const burst = bytesPerSecond * BURST_SECONDS;
  /** What addresses have taken and time has not yet made up for. */
  const taken = new LRUCache<string, { bytes: number; at: number }>(roomFor(MAX_ADDRESSES));

  function bytesTaken(address: string): number {
    const { bytes, at } = taken.get(address) ?? { bytes: 0, at: 0 };
    return Math.max(0, bytes - ((now() - at) / 1000) * bytesPerSecond);
  }

  return {
    enter(address, res) {
      const { socket } = res;
      // The client is gone, so its answer will emit no other `close`.
      if (res.closed || socket === null) return;
      const excess = bytesTaken(address) - burst;
      if (excess >= 0) {
        countRefusal('public_bytes');
        res.setHeader('connection', 'close');
        throw tooMuch(bytesPerSecond, excess);
      }
      const before = socket.bytesWritten;
      res.once('close', () => {
        const bytes = bytesTaken(address) + socket.bytesWritten - before;
        // Answers sent at the same time may add up to far more: nobody waits longer than one burst takes.
        taken.set(address, { bytes: Math.min(bytes, 2 * burst), at: now() });
      });
    },
  };
}

function tooMuch(bytesPerSecond: number, excess: number): AppError {
  const retryAfterSeconds = Math.floor(excess / bytesPerSecond) + 1;
  const message =
    `Your address may take ${bytesPerSecond} bytes of pages and documents a second, and has taken more. ` +
    `Try again in ${retryAfterSeconds} s.`;
  return new AppError('rate_limited', message, { retryAfterSeconds });
}
