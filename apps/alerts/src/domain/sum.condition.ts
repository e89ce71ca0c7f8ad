import { createHash } from 'node:crypto';
import type { BudgetTerms } from './budget.terms.ts';
import type { Condition, Evidence, SavedCondition, Verdict } from './condition.ts';
import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import { emptySum, type EntryForm, type SavedSum } from './saved-sum.ts';
import type { SharedSums } from './shared-sums.ts';
import { SlidingSum } from './sliding-sum.ts';
import type { SumView } from './sum.view.ts';

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
  /** Whether rules that count the same events share a sum. Those of counts differ in what an event counts at most. */
  isShared: boolean;
  /** The settled amount that the evidence reports, given the total. */
  settledMicros(total: number): number | null;
}

const SUMS: Record<SumKind, SumOfKind> = {
  event_count_gte: {
    form: 'unit',
    amountOf: ({ count }) => count,
    most: (threshold) => threshold,
    maxEntries: (threshold) => threshold,
    isShared: false,
    settledMicros: () => null,
  },
  spend_gte: {
    form: 'amount',
    amountOf: ({ settledMicros }) => settledMicros,
    most: () => MAX_COUNTED_MICROS,
    maxEntries: (_threshold, stagger) => Math.floor(MAX_SPEND_ENTRIES * (1 + STAGGERED * stagger)),
    isShared: true,
    settledMicros: (total) => total,
  },
};

/** Where the events of a rule come from. */
export interface EventSource {
  /** The same for rules that count the same events: see `selectionOf`. */
  selection: string;
  /** Events received before are not counted, epoch milliseconds. */
  from: number;
  /** The sums of the rule's workspace. */
  sums: SharedSums;
  /** The budget with the id, or the daily budget of the rule's scope: see `BudgetTermsBook.of`. */
  budget: (budgetId: string | null) => BudgetTerms | null | undefined;
}

export interface SumWindow extends EventSource {
  ruleId: string;
  windowMs: number;
}

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
  readonly #window: SumWindow;
  readonly #threshold: number;
  readonly #most: number;
  /** Undefined before the first event. */
  #view: SumView | undefined;

  constructor(kind: SumKind, window: SumWindow, threshold: number, saved?: SavedSum) {
    this.#kind = kind;
    this.#window = window;
    this.#threshold = threshold;
    this.#of = SUMS[kind];
    this.#most = this.#of.most(threshold);
    // An empty one may still be shared from its first event on.
    if (saved !== undefined && saved.size > 0) this.#view = this.#resume(saved);
  }

  #resume(saved: SavedSum): SumView {
    const { sharedAs, stagger } = saved;
    const resumed = () => this.#newSum(stagger, saved);
    const sum = sharedAs === null ? resumed() : this.#window.sums.join(sharedAs, resumed);
    return sum.open(this.#threshold, this.#window.from);
  }

  /** Opens the sum that begins with the event, which is the same for all rules that share it. */
  #begin({ time, identity }: CountableEvent): SumView {
    const { ruleId, windowMs, selection, from, sums } = this.#window;
    const key = `${windowMs} ${selection}`;
    // By event, so that the events lead to the same sum whenever they are read.
    const sum = this.#of.isShared
      ? sums.join(key, () => this.#newSum(staggerOf(`${key} ${time} ${identity}`)))
      : this.#newSum(staggerOf(ruleId));
    return sum.open(this.#threshold, from);
  }

  #newSum(stagger: number, saved?: SavedSum): SlidingSum {
    const maxEntries = this.#of.maxEntries(this.#threshold, stagger);
    return new SlidingSum({ form: this.#of.form, windowMs: this.#window.windowMs, maxEntries, stagger, saved });
  }

  take(event: CountableEvent): Verdict {
    const amount = Math.min(this.#of.amountOf(event), this.#most);
    if (amount === 0) return 'unchanged';
    this.#view ??= this.#begin(event);
    return this.#view.take(event, amount, event.receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS);
  }

  evidence(): Evidence {
    const { count, total, sampleIds, firstTime, lastTime } = this.#view!;
    return {
      windowStart: lastTime - this.#window.windowMs,
      windowEnd: lastTime,
      eventCount: count,
      settledMicros: this.#of.settledMicros(total),
      sampleEventIds: sampleIds,
      firstEventAt: firstTime,
      lastEventAt: lastTime,
    };
  }

  metUntil(): number | null {
    return this.#view?.reachesThreshold === true ? this.#view.firstTime + this.#window.windowMs : null;
  }

  get heldBytes(): number {
    return this.#view?.heldBytes ?? 0;
  }

  get unsavedBytes(): number {
    return this.#view?.unsavedBytes ?? 0;
  }

  save(): SavedCondition {
    return { kind: this.#kind, sum: this.saveSum() };
  }

  /** The sum alone, as {@link save} returns it. */
  saveSum(): SavedSum {
    return this.#view?.save() ?? emptySum(this.#of.form);
  }

  saved(): void {
    this.#view?.saved();
  }

  close(): void {
    this.#view?.close();
  }
}

/** From 0 to below 1, always the same for a name, evenly distributed over names. */
function staggerOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
}
