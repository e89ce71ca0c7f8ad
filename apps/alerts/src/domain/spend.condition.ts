import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import { MAX_COUNTED_MICROS, NewestSpend, type SavedSpend } from './newest-spend.ts';

/**
 * `spend_gte`: with t the newest time of a settlement above 0, those in `(t - windowMs, t]` add up to at least
 * `thresholdMicros`. That is so exactly when the newest settlements that reach the threshold lie in the window, so no
 * older one is kept: when one of these leaves the window, all older ones have left it.
 */
export class SpendCondition implements Condition {
  readonly #windowMs: number;
  readonly #thresholdMicros: number;
  readonly #spend: NewestSpend;

  constructor(windowMs: number, thresholdMicros: number, saved?: SavedSpend) {
    this.#windowMs = windowMs;
    this.#thresholdMicros = thresholdMicros;
    this.#spend = new NewestSpend({ windowMs, thresholdMicros, saved });
  }

  take({ id, time, identity, receivedAt, settledMicros }: CountableEvent): Verdict {
    if (settledMicros === 0) return 'unchanged';
    const spend = this.#spend;
    spend.moveTo(time);
    const wouldHold = spend.micros >= this.#thresholdMicros;
    const settlement = { id, time, identity, micros: Math.min(settledMicros, MAX_COUNTED_MICROS) };
    const finalUntil = receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS;
    if (!spend.add(settlement, finalUntil)) return 'unchanged';
    if (spend.micros < this.#thresholdMicros) return 'not_met';
    return wouldHold ? 'still_true' : 'became_true';
  }

  evidence(): Evidence {
    const spend = this.#spend;
    const lastEventAt = spend.timeAt(spend.size - 1);
    return {
      windowStart: lastEventAt - this.#windowMs,
      windowEnd: lastEventAt,
      eventCount: spend.count,
      settledMicros: spend.micros,
      sampleEventIds: spend.sampleIds(),
      firstEventAt: spend.timeAt(0),
      lastEventAt,
    };
  }

  metUntil(): number | null {
    return this.#spend.micros >= this.#thresholdMicros ? this.#spend.timeAt(0) + this.#windowMs : null;
  }

  get bytes(): number {
    return this.#spend.bytes;
  }

  save(): SavedCondition {
    return { kind: 'spend_gte', spend: this.#spend.save() };
  }
}
