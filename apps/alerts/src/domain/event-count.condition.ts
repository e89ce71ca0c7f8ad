import type { Condition } from './condition.ts';
import { createNewestEvents, type SavedEvents } from './newest-events.ts';

/**
 * `event_count_gte` (decisions §6): with t the newest matching time, `(t - windowMs, t]` has at least `threshold`
 * matching events. That is so exactly when the threshold-th newest of them lies in it, so no older one is kept. A duplicate
 * of an older one comes out as too old to matter, which is what its being a duplicate would mean.
 *
 * "Would not without it" is about the same window, up to the t that the event has made: so a condition that time has ended in
 * between becomes true again, as it must where the alert has resolved by itself.
 */
export function createEventCountCondition(windowMs: number, threshold: number, saved?: SavedEvents): Condition {
  const newest = createNewestEvents(threshold, saved);

  function holdsAt(t: number): boolean {
    return newest.size === threshold && newest.timeAt(0) > t - windowMs;
  }

  return {
    take(event) {
      const t = newest.size === 0 ? event.time : Math.max(event.time, newest.timeAt(newest.size - 1));
      const wouldHold = holdsAt(t);
      if (!newest.add(event)) return 'unchanged';
      if (!holdsAt(t)) return 'not_met';
      return wouldHold ? 'still_true' : 'became_true';
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
