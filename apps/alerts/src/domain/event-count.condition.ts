import type { Condition } from './condition.ts';
import { createNewestEvents, type SavedEvents } from './newest-events.ts';

/**
 * `event_count_gte` (decisions §6): with t the newest matching time, `(t - windowMs, t]` has at least `threshold`
 * matching events. That is so exactly when the threshold-th newest of them lies in it, so no older one is kept. A duplicate
 * of an older one comes out as too old to matter, which is what its being a duplicate would mean.
 */
export function createEventCountCondition(windowMs: number, threshold: number, saved?: SavedEvents): Condition {
  const newest = createNewestEvents(threshold, saved);

  function holds(): boolean {
    return newest.size === threshold && newest.timeAt(0) > newest.timeAt(threshold - 1) - windowMs;
  }

  return {
    take(event) {
      const held = holds();
      if (!newest.add(event)) return 'unchanged';
      if (!holds()) return 'not_met';
      return held ? 'still_true' : 'became_true';
    },
    evidence() {
      const lastEventAt = newest.timeAt(newest.size - 1);
      return {
        windowStart: lastEventAt - windowMs,
        windowEnd: lastEventAt,
        eventCount: newest.size,
        sampleEventIds: newest.sampleIds(),
        firstEventAt: newest.timeAt(0),
        lastEventAt,
      };
    },
    metUntil: () => (newest.size === threshold ? newest.timeAt(0) + windowMs : null),
    save: () => ({ events: newest.save() }),
  };
}
