import { AppError, roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';

/** So many requests for raises a key may send at once, and then so many a second: more than people read. */
const BURST = 10;
const PER_SECOND = 0.5;
const MAX_KEYS = 10_000;

/**
 * Keeps what a key in a loop costs budgets small, however many calls its workspace may make. Throws `rate_limited`
 * beyond the allowance of the key.
 */
export function createRaiseAllowance({ refused, now }: { refused: { inc(): void }; now: () => number }) {
  const known = new LRUCache<string, { left: number; at: number }>(roomFor(MAX_KEYS));
  return (keyId: string): void => {
    const at = now();
    const last = known.get(keyId) ?? { left: BURST, at };
    const left = Math.min(BURST, last.left + ((at - last.at) / 1_000) * PER_SECOND);
    known.set(keyId, { left: left >= 1 ? left - 1 : left, at });
    if (left >= 1) return;
    refused.inc();
    const message = `A workspace key may ask for ${BURST} raises at once, and then for one every ${1 / PER_SECOND} seconds.`;
    throw new AppError('rate_limited', message, { retryAfterSeconds: 1 / PER_SECOND });
  };
}
