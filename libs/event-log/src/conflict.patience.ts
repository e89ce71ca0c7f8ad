import { ContendedTransaction } from '@tollkeeper/mongo';
import type { RecordBatch } from './event-log.ts';

/** Tells a record that can never be applied from one that only conflicts, be it by load or by somebody's lock. */
export interface ConflictPatience {
  /**
   * Of a record that MongoDB refused alone with `error`: whether it may be taken for the cause. At once for any error
   * but a {@link ContendedTransaction}, of which the record must have had `patienceMs`.
   */
  hasRunOut(error: unknown, place: Pick<RecordBatch, 'topic' | 'partition'>, offset: number): boolean;
}

/** Default of `patienceMs`: 5 minutes. */
export const PATIENCE_MS = 300_000;

export function createConflictPatience(patienceMs = PATIENCE_MS): ConflictPatience {
  /** By partition, the record that conflicts alone, and since when. */
  const contended = new Map<string, { offset: number; since: number }>();

  return {
    hasRunOut(error, { topic, partition }, offset) {
      if (!(error instanceof ContendedTransaction)) return true;
      const key = `${topic}/${partition}`;
      const known = contended.get(key);
      if (known?.offset === offset) return performance.now() - known.since >= patienceMs;
      contended.set(key, { offset, since: performance.now() });
      return false;
    },
  };
}
