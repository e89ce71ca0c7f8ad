import type { CountRefusal } from '@tollkeeper/http';
import { AppError, roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { Ending } from './exchange.ts';

/** An answer, and the connection that it is sent on, if that is still there. */
interface Counted extends Ending {
  readonly socket: { readonly bytesWritten: number } | null;
  setHeader(name: string, value: string): unknown;
}

export interface PublicBytesLimit {
  /**
   * Counts the bytes of an answer to `address` when it has ended. While the address is over its limit, throws
   * `rate_limited` and closes the connection, with all pipelined requests.
   */
  enter(address: string, res: Counted): void;
}

/** An address that was idle may take this many seconds' worth of bytes at once. */
const BURST_SECONDS = 30;
const MAX_ADDRESSES = 50_000;

/**
 * Bounds the bytes that one address gets of answers without session or key, such as pages. They are large compared with
 * their requests, and the system buffers megabytes for a connection whose client does not read.
 *
 * @param now monotonic milliseconds
 */
export function createPublicBytesLimit(
  bytesPerSecond: number,
  countRefusal: CountRefusal,
  now: () => number = () => performance.now(),
): PublicBytesLimit {
  const burst = bytesPerSecond * BURST_SECONDS;
  /** Bytes per address that count against its limit, less the allowance since. */
  const taken = new LRUCache<string, { bytes: number; at: number }>(roomFor(MAX_ADDRESSES));

  function bytesTaken(address: string): number {
    const { bytes, at } = taken.get(address) ?? { bytes: 0, at: 0 };
    return Math.max(0, bytes - ((now() - at) / 1000) * bytesPerSecond);
  }

  return {
    enter(address, res) {
      const { socket } = res;
      // The client has disconnected, so the answer will not emit `close` again.
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
        // Concurrent answers may add up to far more. With this cap, nobody waits longer than one burst takes.
        taken.set(address, { bytes: Math.min(bytes, 2 * burst), at: now() });
      });
    },
  };
}

function tooMuch(bytesPerSecond: number, excess: number): AppError {
  const retryAfterSeconds = Math.floor(excess / bytesPerSecond) + 1;
  const message =
    `Your address exceeded ${bytesPerSecond} bytes of pages and documents per second. ` +
    `Try again in ${retryAfterSeconds} s.`;
  return new AppError('rate_limited', message, { retryAfterSeconds });
}
