import { budgetSpanAt } from '@tollkeeper/kernel';
import { budgetFactsOf } from './budget.facts.ts';
import { type BudgetTerms, countSameCalls, valueFor } from './budget.terms.ts';
import type { BurnFacts, Condition, Evidence, SavedBurn, SavedCondition, Verdict } from './condition.ts';
import type { CountableEvent } from './event.ts';
import { RecentSettlements } from './recent.settlements.ts';
import { type StepLayout, StepSums } from './step-sums.ts';
import { MAX_COUNTED_MICROS, type SumWindow } from './sum.condition.ts';

/** The long window is this many steps, the newest included. */
export const BURN_STEPS = 60;

export interface BurnFields {
  /** Null for the daily budget of the scope of the rule. */
  budgetId: string | null;
  /** The part of the budget, in thousandths. */
  permille: number;
  longSeconds: number;
  /** A multiple of a step. */
  shortSeconds: number;
}

/** What both windows must have spent, in micros. */
interface Thresholds {
  long: number;
  short: number;
}

export function burnLayout({ longSeconds }: Pick<BurnFields, 'longSeconds'>): StepLayout {
  return { stepMs: (longSeconds / BURN_STEPS) * 1000, chunkSteps: BURN_STEPS, keptChunks: 1 };
}

/**
 * `burn_rate_gte`: the budget burns so fast that `permille` of its limit goes within the long window. Both windows must
 * burn at that rate: the long one shows that it matters, and the short one that it goes on. Both consist of steps, each
 * a 60th of the long window, and end with the newest step with spend. Each value of a budget with `each` burns alone.
 *
 * If the limit changes, the next event is judged by the new one. If the budget counts other calls than before, the sums
 * start anew.
 */
export class BurnCondition implements Condition {
  readonly #fields: BurnFields;
  readonly #window: SumWindow;
  readonly #recent: RecentSettlements;
  readonly #stepMs: number;
  readonly #shortSteps: number;
  #sums: StepSums;
  #terms: BudgetTerms | null;
  #thresholds: Thresholds | undefined;
  readonly #met: Map<string, number>;
  #last: BurnFacts | undefined;

  constructor(fields: BurnFields, window: SumWindow, saved?: SavedBurn) {
    this.#fields = fields;
    this.#window = window;
    this.#recent = new RecentSettlements(window, saved?.sum);
    const { stepMs } = burnLayout(fields);
    this.#stepMs = stepMs;
    this.#shortSteps = (fields.shortSeconds * 1000) / stepMs;
    this.#sums = new StepSums(burnLayout(fields), saved?.steps.chunks);
    this.#terms = saved?.terms ?? null;
    this.#met = new Map(saved?.met);
  }

  take(event: CountableEvent): Verdict {
    const terms = this.#currentTerms();
    if (terms === null || event.call === undefined) return 'unchanged';
    // A budget that is once counts nothing before and after.
    if (budgetSpanAt(terms.period, terms.timezone, event.time) === null) return 'unchanged';
    const value = valueFor(terms, event.call);
    if (value === null || !this.#recent.isNew(event)) return 'unchanged';
    const added = this.#sums.add(event.time, value, Math.min(event.settledMicros, MAX_COUNTED_MICROS));
    if (added === null) return 'unchanged';
    const { series, step } = added;
    const newest = this.#sums.lastStep(series);
    const long = this.#sums.sum(series, newest - BURN_STEPS + 1, newest);
    const short = this.#sums.sum(series, newest - this.#shortSteps + 1, newest);
    if (!this.#isMet(long, short)) {
      this.#met.delete(series);
      return 'not_met';
    }
    // Series that have left are forgotten, so there are no more than the sums have.
    for (const [name, until] of this.#met) if (until <= added.step * this.#stepMs) this.#met.delete(name);
    this.#met.set(series, this.#metUntil(series, newest, long, short));
    this.#last = this.#describe(terms, series, newest, long, short);
    const micros = added.after - added.before;
    const without = (sum: number, steps: number) => (step > newest - steps ? sum - micros : sum);
    return this.#isMet(without(long, BURN_STEPS), without(short, this.#shortSteps)) ? 'still_true' : 'became_true';
  }

  #currentTerms(): BudgetTerms | null {
    const known = this.#window.budget(this.#fields.budgetId);
    if (known === undefined || known === this.#terms) return this.#terms;
    if (known !== null && (this.#terms === null || !countSameCalls(known, this.#terms))) {
      this.#sums = new StepSums(burnLayout(this.#fields));
      this.#met.clear();
    }
    this.#terms = known;
    this.#thresholds = undefined;
    return known;
  }

  #isMet(long: number, short: number): boolean {
    this.#thresholds ??= thresholdsOf(this.#fields, this.#terms!);
    return long >= this.#thresholds.long && short >= this.#thresholds.short;
  }

  /** The first time at which one of the windows has lost enough of its steps. */
  #metUntil(series: string, newest: number, long: number, short: number): number {
    this.#thresholds ??= thresholdsOf(this.#fields, this.#terms!);
    const until = (steps: number, sum: number, threshold: number): number => {
      let left = sum;
      let step = newest - steps + 1;
      for (; step < newest; step += 1) {
        left -= this.#sums.at(series, step);
        if (left < threshold) break;
      }
      return (step + steps) * this.#stepMs;
    };
    return Math.min(
      until(BURN_STEPS, long, this.#thresholds.long),
      until(this.#shortSteps, short, this.#thresholds.short),
    );
  }

  #describe(terms: BudgetTerms, series: string, newest: number, long: number, short: number): BurnFacts {
    const about = budgetFactsOf(terms, series, newest * this.#stepMs);
    return { ...about, longMicros: long, shortMicros: short, since: (newest - BURN_STEPS + 1) * this.#stepMs };
  }

  evidence({ id, time }: CountableEvent): Evidence {
    const burn = this.#last!;
    return {
      windowStart: burn.since,
      windowEnd: time,
      eventCount: 1,
      settledMicros: burn.longMicros,
      sampleEventIds: [id],
      firstEventAt: time,
      lastEventAt: time,
      burn,
    };
  }

  metUntil(): number | null {
    return this.#met.size === 0 ? null : Math.max(...this.#met.values());
  }

  get heldBytes(): number {
    return this.#recent.heldBytes + this.#sums.heldBytes;
  }

  get unsavedBytes(): number {
    return this.#recent.unsavedBytes + this.#sums.unsavedBytes;
  }

  save(): SavedCondition {
    const saved = { sum: this.#recent.save(), steps: this.#sums.save(), terms: this.#terms, met: [...this.#met] };
    return { kind: 'burn_rate_gte', ...saved };
  }

  saved(): void {
    this.#recent.saved();
    this.#sums.saved();
  }

  close(): void {
    this.#recent.close();
  }
}

/** Rounded up to whole micros. Infinite for a limit of 0, which is a decision and not a risk. */
function thresholdsOf({ permille, longSeconds, shortSeconds }: BurnFields, { limitMicros }: BudgetTerms): Thresholds {
  if (limitMicros === 0) return { long: Infinity, short: Infinity };
  const part = BigInt(permille) * BigInt(limitMicros);
  const upOf = (dividend: bigint, divisor: bigint) => Number((dividend + divisor - 1n) / divisor);
  return {
    long: upOf(part, 1000n),
    short: upOf(part * BigInt(shortSeconds), 1000n * BigInt(longSeconds)),
  };
}
