import type { TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import { dayOf, type ChunkDocument } from './chunk.packing.ts';

/**
 * Light traffic makes small chunks. When a workspace got {@link FOLD_AT} of one size in a day, they become one of the
 * next size, so an event is written three times at most.
 */
const SIZES = [
  { from: 0, to: 16 },
  { from: 16, to: 256 },
] as const;
const FOLD_AT = 16;
/** A fold takes no further chunk from this many events on, and a batch does so many folds. Others follow later. */
const MAX_EVENTS = 4_096;
const MAX_FOLDS = 2;
/** Days of workspaces whose small chunks are counted. */
const KNOWN_DAYS = 100_000;

/** Chunks of a day of a workspace that have so many events. */
export interface FoldPlace {
  tenantId: TenantId;
  day: number;
  counts: { from: number; to: number };
  maxEvents: number;
}

export interface FoldSchedule {
  /**
   * What to fold now that these chunks are written. It only counts what this process has written, transactions that
   * did not commit included: whoever folds looks at what is there.
   */
  dueAfter(written: readonly Pick<ChunkDocument, 'tenantId' | 'to' | 'count'>[]): FoldPlace[];
}

export function createFoldSchedule(): FoldSchedule {
  const written = new LRUCache<string, number>({ max: KNOWN_DAYS });
  return {
    dueAfter(added) {
      const due: FoldPlace[] = [];
      for (const { tenantId, to, count } of added) {
        const size = SIZES.find(({ from, to: end }) => count >= from && count < end);
        if (size === undefined) continue;
        const day = dayOf(to.getTime());
        const key = `${tenantId}|${day}|${size.to}`;
        const number = (written.get(key) ?? 0) + 1;
        const isDue = number >= FOLD_AT && due.length < MAX_FOLDS;
        if (isDue) due.push({ tenantId, day, counts: size, maxEvents: MAX_EVENTS });
        written.set(key, isDue ? 0 : number);
      }
      return due;
    },
  };
}
