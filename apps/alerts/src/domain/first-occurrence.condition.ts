import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import { type Coverage, createCoverage, type Span } from './coverage.ts';
import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';

/** Approximate size of a span in a store and in memory, in bytes. */
export const SPAN_BYTES = 40;

/**
 * `first_occurrence`: no other matching event lies in `(time - windowMs, time]` of the event. The condition is true for
 * single events and does not last, so it is never `still_true`. It counts as met until `windowMs` after the newest
 * matching event.
 *
 * Spans that no late event can reach any more are forgotten, so their number is bounded.
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

  get heldBytes(): number {
    return SPAN_BYTES * this.#covered.size();
  }

  get unsavedBytes(): number {
    return this.heldBytes;
  }

  /** Always saved whole, since it is small. */
  save(): SavedCondition {
    return { kind: 'first_occurrence', spans: this.#covered.spans() };
  }

  saved(): void {}

  close(): void {}
}
