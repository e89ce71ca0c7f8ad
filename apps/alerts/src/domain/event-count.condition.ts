import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import type { CountableEvent } from './event.ts';
import { NewestEvents, type SavedEvents } from './newest-events.ts';

/**
 * `event_count_gte` (decisions §6): with t the newest matching time, `(t - windowMs, t]` has at least `threshold`
 * matching events. That is so exactly when the threshold-th newest of them lies in it, so no older one is kept. A
 * duplicate of an older one comes out as too old to matter, which is what its being a duplicate would mean.
 *
 * "Would not without it" is about the same window, up to the t that the event has made: so a condition that time has
 * ended in between becomes true again, as it must where the alert has resolved by itself.
 */
export class EventCountCondition implements Condition {
  readonly #windowMs: number;
  readonly #threshold: number;
  readonly #newest: NewestEvents;

  constructor(windowMs: number, threshold: number, saved?: SavedEvents) {
    this.#windowMs = windowMs;
    this.#threshold = threshold;
    this.#newest = new NewestEvents(threshold, saved);
  }

  take(event: CountableEvent): Verdict {
    const newest = this.#newest;
    const t = newest.size === 0 ? event.time : Math.max(event.time, newest.timeAt(newest.size - 1));
    const wouldHold = this.#holdsAt(t);
    if (!newest.add(event)) return 'unchanged';
    if (!this.#holdsAt(t)) return 'not_met';
    return wouldHold ? 'still_true' : 'became_true';
  }

  evidence(): Evidence {
    const newest = this.#newest;
    const lastEventAt = newest.timeAt(newest.size - 1);
    return {
      windowStart: lastEventAt - this.#windowMs,
      windowEnd: lastEventAt,
      eventCount: newest.size,
      settledMicros: null,
      sampleEventIds: newest.sampleIds(),
      firstEventAt: newest.timeAt(0),
      lastEventAt,
    };
  }

  metUntil(): number | null {
    return this.#newest.size === this.#threshold ? this.#newest.timeAt(0) + this.#windowMs : null;
  }

  get bytes(): number {
    return this.#newest.bytes;
  }

  save(): SavedCondition {
    return { kind: 'event_count_gte', events: this.#newest.save() };
  }

  #holdsAt(t: number): boolean {
    return this.#newest.size === this.#threshold && this.#newest.timeAt(0) > t - this.#windowMs;
  }
}
