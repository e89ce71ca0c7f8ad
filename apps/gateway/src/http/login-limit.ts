import { AppError, roomFor, systemClock } from '@tollkeeper/kernel';
import type { Clock } from '@tollkeeper/kernel';
import { toClientNetwork } from '@tollkeeper/net';
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;

/**
 * Throws `rate_limited` for an address with too many attempts in a minute to log in or to use a token, because each
 * attempt costs identity a deliberately slow password hash. Failed attempts are counted by identity, which alone knows
 * them.
 */
export function createLoginLimit(attemptsPerMinute: number, clock: Clock = systemClock): (address: string) => void {
  const windows = new LRUCache<string, { startedAt: number; attempts: number }>(roomFor(MAX_ADDRESSES));

  return (address) => {
    const network = toClientNetwork(address);
    const now = clock();
    let window = windows.get(network);
    if (window === undefined || now - window.startedAt >= WINDOW_MS) {
      window = { startedAt: now, attempts: 0 };
      windows.set(network, window);
    }
    window.attempts += 1;
    if (window.attempts > attemptsPerMinute) {
      const retryAfterSeconds = Math.ceil((window.startedAt + WINDOW_MS - now) / 1000);
      throw new AppError('rate_limited', 'Too many attempts from this address. Try again shortly.', {
        retryAfterSeconds,
      });
    }
  };
}
