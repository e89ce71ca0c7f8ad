import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import { dayOf, type ChunkDocument } from './chunk.packing.ts';

/**
 * Light traffic makes small chunks. When a workspace got {@link FOLD_AT} of one size in a day, they become one chunk of
 * the next size. So an event is written at most three times.
 */
const SIZES = [
  { from: 1, to: 16 },
  { from: 16, to: 256 },
] as const;
const FOLD_AT = 16;
/** A fold stops at this many events and marks. Later folds take the remaining chunks. */
const MAX_FOLDED = 4_096;
const MAX_FOLDS = 2;
/** Days of workspaces whose small chunks are counted. */
const KNOWN_DAYS = 100_000;

/** Chunks of a workspace's day with a size in `sizes`. A fold stops once it has `enough` events and marks. */
export interface FoldPlace {
  tenantId: TenantId;
  day: number;
  sizes: { from: number; to: number };
  enough: number;
}

export interface FoldSchedule {
  /**
   * What to fold now that these chunks are written. Only writes of this process are counted, even those of aborted
   * transactions, so the caller must look at what is stored.
   */
  dueAfter(written: readonly Pick<ChunkDocument, 'tenantId' | 'to' | 'size'>[]): FoldPlace[];
}

export function createFoldSchedule(): FoldSchedule {
  const written = new LRUCache<string, number>(roomFor(KNOWN_DAYS));
  return {
    dueAfter(added) {
      const due: FoldPlace[] = [];
      for (const { tenantId, to, size } of added) {
        const sizes = SIZES.find(({ from, to: end }) => size >= from && size < end);
        if (sizes === undefined) continue;
        const day = dayOf(to.getTime());
        const key = `${tenantId}|${day}|${sizes.to}`;
        const number = (written.get(key) ?? 0) + 1;
        const isDue = number >= FOLD_AT && due.length < MAX_FOLDS;
        if (isDue) due.push({ tenantId, day, sizes, enough: MAX_FOLDED });
        written.set(key, isDue ? 0 : number);
      }
      return due;
    },
  };
}
