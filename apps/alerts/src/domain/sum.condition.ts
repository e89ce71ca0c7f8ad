import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import type { EntryForm, SavedSum } from './saved-sum.ts';
import { SlidingSum } from './sliding-sum.ts';

/** Up to this many entries of a `spend_gte`, each settlement has its own. Beyond that, settlements share entries. */
export const MAX_SPEND_ENTRIES = 4000;
/** Some rules get up to this share more entries. Otherwise all rules over the same events would merge at once. */
const STAGGERED = 1 / 4;
/**
 * Maximum counted amount of a settlement, and the largest threshold: USD 1 billion. The kept amounts sum up to less
 * than three times that, which is a safe integer.
 */
export const MAX_COUNTED_MICROS = 1_000_000_000_000_000;

type SumKind = 'event_count_gte' | 'spend_gte';

/** What a kind of rule sums up. */
interface SumOfKind {
  /** The initial form of the entries. */
  form: EntryForm;
  amountOf(event: CountableEvent): number;
  /** The maximum that one event counts. */
  most(threshold: number): number;
  maxEntries(threshold: number, stagger: number): number;
  /** The settled amount that the evidence reports, given the total. */
  settledMicros(total: number): number | null;
}

const SUMS: Record<SumKind, SumOfKind> = {
  event_count_gte: {
    form: 'unit',
    amountOf: ({ count }) => count,
    most: (threshold) => threshold,
    maxEntries: (threshold) => threshold,
    settledMicros: () => null,
  },
  spend_gte: {
    form: 'amount',
    amountOf: ({ settledMicros }) => settledMicros,
    most: () => MAX_COUNTED_MICROS,
    maxEntries: (_threshold, stagger) => Math.floor(MAX_SPEND_ENTRIES * (1 + STAGGERED * stagger)),
    settledMicros: (total) => total,
  },
};

/**
 * `event_count_gte` and `spend_gte`: with t the newest time of a counted event, the events in `(t - windowMs, t]` add
 * up to at least `threshold`. Each event counts 1, or the blocked calls that it reports, or the amount that it settled.
 *
 * "Would not be without it" compares within the same window, up to the t that includes the event. So a condition that
 * lapsed in between becomes true again, as it must if the alert has resolved automatically.
 */
export class SumCondition implements Condition {
  readonly #kind: SumKind;
  readonly #of: SumOfKind;
  readonly #windowMs: number;
  readonly #most: number;
  readonly #sum: SlidingSum;

  constructor(kind: SumKind, windowMs: number, threshold: number, stagger: number, saved?: SavedSum) {
    this.#kind = kind;
    this.#windowMs = windowMs;
    this.#of = SUMS[kind];
    this.#most = this.#of.most(threshold);
    const maxEntries = this.#of.maxEntries(threshold, stagger);
    this.#sum = new SlidingSum({ form: this.#of.form, windowMs, threshold, maxEntries, stagger, saved });
  }

  take(event: CountableEvent): Verdict {
    const amount = Math.min(this.#of.amountOf(event), this.#most);
    if (amount === 0) return 'unchanged';
    const sum = this.#sum;
    sum.moveTo(event.time);
    const wouldHold = sum.reachesThreshold;
    const finalUntil = event.receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS;
    if (!sum.add(event, amount, finalUntil)) return 'unchanged';
    if (!sum.reachesThreshold) return 'not_met';
    return wouldHold ? 'still_true' : 'became_true';
  }

  evidence(): Evidence {
    const { count, total, sampleIds, firstTime, lastTime } = this.#sum;
    return {
      windowStart: lastTime - this.#windowMs,
      windowEnd: lastTime,
      eventCount: count,
      settledMicros: this.#of.settledMicros(total),
      sampleEventIds: sampleIds,
      firstEventAt: firstTime,
      lastEventAt: lastTime,
    };
  }

  metUntil(): number | null {
    return this.#sum.reachesThreshold ? this.#sum.firstTime + this.#windowMs : null;
  }

  get heldBytes(): number {
    return this.#sum.heldBytes;
  }

  get unsavedBytes(): number {
    return this.#sum.unsavedBytes;
  }

  save(): SavedCondition {
    return { kind: this.#kind, sum: this.#sum.save() };
  }

  saved(): void {
    this.#sum.saved();
  }
}
