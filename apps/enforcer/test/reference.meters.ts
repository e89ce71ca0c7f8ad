import type { BudgetedCall } from '@tollkeeper/contracts';
import type { ActiveBudget } from '../src/domain/active.budgets.ts';
import type { CountState } from '../src/domain/limit.ts';
import { budgetsOf } from './history.budgets.ts';
import type { Fact, FactOf, History, Span } from './reference.facts.ts';

/** What a meter counts of a fact. */
interface Seen {
  posted: number;
  held: number;
  open?: number;
  leases?: number;
}

type FactWithCall = Extract<Fact, { call: BudgetedCall }>;

/** A meter, with the budgets as it began. */
interface Metered {
  all: readonly ActiveBudget[];
  /** Number of facts before it. */
  begun: number;
  /** The reservations that were open then. */
  held: ReadonlySet<string>;
  from: number;
  /** Number of facts when earlier ones were filled in; null before. */
  filled: number | null;
}

/** The meters that count, each from a fact on. */
export class ReferenceMeters {
  private readonly metered = new Map<string, Metered>();
  private readonly history: History;

  constructor(history: History) {
    this.history = history;
  }

  stateOf({ meter }: ActiveBudget): CountState {
    return (this.metered.get(meter)?.filled ?? null) === null ? 'filling' : 'exact';
  }

  /** What a meter counts in a period, and the start of the period or step with the oldest amount of it. */
  count({ meter, period }: ActiveBudget, value: string, current: Span) {
    const metered = this.metered.get(meter);
    const counted = { posted: 0, held: 0, open: 0, leases: 0 };
    const byStart = new Map<number, number>();
    for (const [index, fact] of this.history.facts.entries()) {
      if (metered === undefined || !('call' in fact)) continue;
      const start = this.history.periods.placeIn(period, fact.at, current);
      const isFor = budgetsOf(metered.all, fact.call, fact.at).some(
        ([each, of]) => each.meter === meter && of === value,
      );
      const seen = this.seenBy(metered, fact, index);
      if (start === null || !isFor || seen === null) continue;
      counted.posted += seen.posted;
      counted.held += seen.held;
      counted.open += seen.open ?? 0;
      counted.leases += seen.leases ?? 0;
      byStart.set(start, (byStart.get(start) ?? 0) + seen.posted + seen.held);
    }
    const used = [...byStart].flatMap(([start, micros]) => (micros > 0 ? [start] : []));
    return { ...counted, oldest: Math.min(current.start, ...used) };
  }

  /** What a meter counts of a fact; null if nothing of it. Earlier facts count only once they have been filled in. */
  private seenBy(metered: Metered, fact: FactWithCall, index: number): Seen | null {
    const { begun, held, from, filled } = metered;
    if (fact.kind === 'leased') return this.seenOfLease(metered, fact, index);
    const isFill = filled !== null && index < filled && fact.at >= from;
    if (fact.kind === 'too old') return isFill ? { posted: fact.micros, held: 0, open: 0 } : null;
    if (fact.kind === 'unreserved' || fact.kind === 'corrected') {
      return index >= begun || isFill ? { posted: fact.micros, held: 0, open: 0 } : null;
    }
    const settled = this.history.of('settled').find(({ id, counted }) => id === fact.id && !counted);
    const posted = settled?.micros ?? 0;
    if (index >= begun || held.has(fact.id)) {
      const isOpen = this.history.find(fact.id)!.state === 'held';
      return { posted, held: isOpen ? fact.request.amountMicros : 0, open: isOpen ? 1 : 0 };
    }
    if (settled === undefined) return null;
    return this.history.facts.indexOf(settled) >= begun || isFill ? { posted, held: 0, open: 0 } : null;
  }

  /** A lease that was open at the beginning counts from then on. What was drawn before is filled in. */
  private seenOfLease({ begun, held, from, filled }: Metered, fact: FactOf<'leased'>, index: number): Seen | null {
    const { facts, leases } = this.history;
    const isHeld = index >= begun || held.has(fact.id);
    const isOpen = isHeld && leases.isOpen(fact);
    let posted = 0;
    let isSeen = isHeld;
    for (const [at, drawn] of facts.entries()) {
      if (drawn.kind !== 'drawn' || drawn.id !== fact.id) continue;
      const isFilled = filled !== null && at < filled && fact.at >= from;
      if (at < begun && !isFilled) continue;
      isSeen = true;
      posted += drawn.micros;
    }
    if (!isSeen) return null;
    return { posted, held: isOpen ? leases.count(fact).leftMicros : 0, leases: isOpen ? 1 : 0 };
  }

  /** Whether an open lease counts in a period of a budget, or in the step of a rolling one. */
  holds(fact: FactOf<'leased'>, { meter, period }: ActiveBudget, value: string, current: Span): boolean {
    const metered = this.metered.get(meter);
    if (metered === undefined) return true;
    const isFor = budgetsOf(metered.all, fact.call, fact.at).some(([each, of]) => each.meter === meter && of === value);
    const isHeld = this.history.facts.indexOf(fact) >= metered.begun || metered.held.has(fact.id);
    return isFor && isHeld && this.history.periods.placeIn(period, fact.at, current) === current.start;
  }

  isAgreed(all: readonly ActiveBudget[]): boolean {
    return all.length === this.metered.size && all.every(({ meter }) => this.metered.has(meter));
  }

  /** Begins the meters of these budgets, and forgets all others, whose names it returns. */
  agree(all: readonly ActiveBudget[]): string[] {
    const gone = [...this.metered.keys()].filter((name) => !all.some(({ meter }) => meter === name));
    for (const meter of gone) {
      this.metered.delete(meter);
      this.history.periods.forget(meter);
    }
    const { timezone } = this.history.dayOf(this.history.now);
    const begun = all.filter(({ meter }) => !this.metered.has(meter));
    const held = this.history.of('granted').filter(({ id }) => this.history.find(id)!.state === 'held');
    const leased = this.history.of('leased').filter((fact) => this.history.leases.isOpen(fact));
    const grants = [...held, ...leased];
    for (const budget of begun) {
      const { meter, period } = budget;
      const span = this.history.periods.at(budget, this.history.now, timezone);
      if (span !== null) this.history.periods.enter([[budget, '']], this.history.now, timezone, this.history.now);
      const { now } = this.history;
      const isAhead = period.kind === 'once' && period.start > now && period.start <= now + 3_600_000;
      const start = span === null ? (isAhead ? period.start : Infinity) : span.start;
      const from = period.kind === 'rolling' ? span!.end - period.seconds * 1000 : start;
      const held = new Set(grants.map(({ id }) => id));
      this.metered.set(meter, {
        all,
        begun: this.history.facts.length,
        held,
        from,
        filled: from === Infinity ? 0 : null,
      });
    }
    for (const { call, at } of grants) this.enter(begun, call, at);
    return gone;
  }

  /** Opens the periods in which a call counts. */
  enter(all: readonly ActiveBudget[], call: BudgetedCall, at: number): void {
    const { timezone } = this.history.dayOf(this.history.now);
    const known = all.filter(({ meter }) => this.metered.has(meter));
    const of = known.length === 0 ? [] : budgetsOf(this.metered.get(known[0]!.meter)!.all, call, at);
    this.history.periods.enter(
      of.filter(([{ meter }]) => known.some((budget) => budget.meter === meter)),
      at,
      timezone,
      this.history.now,
    );
  }
  /** What was settled before meters began is filled in. */
  fill(all: readonly ActiveBudget[]): void {
    for (const [meter, metered] of this.metered) {
      if (metered.filled !== null) continue;
      metered.filled = this.history.facts.length;
      const own = all.filter((budget) => budget.meter === meter);
      for (const [index, fact] of this.history.facts.entries()) {
        const isFilled = 'call' in fact && this.seenBy(metered, fact, index) !== null && fact.at >= metered.from;
        if (isFilled) this.enter(own, fact.call, fact.at);
      }
    }
  }
}
