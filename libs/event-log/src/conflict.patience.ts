import { ContendedTransaction } from '@tollkeeper/mongo';
import type { RecordBatch } from './event-log.ts';

/** Distinguishes records that can never be applied from records that only conflict because of load or a lock. */
export interface ConflictPatience {
  /**
   * Whether a record that MongoDB refused alone with `error` counts as the cause. If the error is a {@link
   * ContendedTransaction}, it does after `patienceMs` of conflicts; for any other error, at once.
   */
  hasRunOut(error: unknown, place: Pick<RecordBatch, 'topic' | 'partition'>, offset: number): boolean;
}

/** Default of `patienceMs`: 5 minutes. */
export const PATIENCE_MS = 300_000;

export function createConflictPatience(patienceMs = PATIENCE_MS): ConflictPatience {
  /** By partition: the record that conflicts alone, and since when. */
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
