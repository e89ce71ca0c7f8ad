import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import { type Coverage, createCoverage, type Span } from './coverage.ts';
import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';

/** About what a span takes, in a store and in memory. */
export const SPAN_BYTES = 40;

/**
 * `first_occurrence` (decisions §6): no other matching event lies in `(time - windowMs, time]` of the event. It is true
 * of an event and does not last, so it is never `still_true`; it counts as met for `windowMs` after the newest matching
 * event.
 *
 * What a late event can no longer reach is forgotten, so that at most the lateness over `windowMs` spans are kept.
 */
export class FirstOccurrenceCondition implements Condition {
  readonly #windowMs: number;
  readonly #covered: Coverage;

  constructor(windowMs: number, saved?: readonly Span[]) {
    this.#windowMs = windowMs;
    this.#covered = createCoverage(windowMs, saved);
  }

  take({ time, receivedAt }: CountableEvent): Verdict {
    const first = this.#covered.add(time);
    this.#covered.forgetUntil(receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS);
    return first ? 'became_true' : 'not_met';
  }

  evidence({ id, time }: CountableEvent): Evidence {
    return {
      windowStart: time - this.#windowMs,
      windowEnd: time,
      eventCount: 1,
      settledMicros: null,
      sampleEventIds: [id],
      firstEventAt: time,
      lastEventAt: time,
    };
  }

  metUntil(): number | null {
    return this.#covered.end();
  }

  get bytes(): number {
    return SPAN_BYTES * this.#covered.size();
  }

  save(): SavedCondition {
    return { kind: 'first_occurrence', spans: this.#covered.spans() };
  }
}
