import {
  type BudgetEach,
  type BudgetSelector,
  grantableMicros,
  isSelected,
  valueOfEach,
  type BudgetedCall,
} from '@tollkeeper/contracts';
import { type BudgetPeriod, budgetSpanAt, countedSince, type TimeSpan } from '@tollkeeper/kernel';
import type { DashboardEvent, EventData } from './event.ts';
import { first } from './top.ts';

/** A budget that could be created. */
export interface PlannedBudget {
  selector: BudgetSelector;
  each: BudgetEach | null;
  period: BudgetPeriod;
  limitMicros: number;
  gracePercent: number;
  /** Whether calls beyond the limit and its grace are denied, and so not spent. */
  denies: boolean;
}

/** Calls, those of them beyond the limit, and what they cost in USD micros. */
export interface CallSums {
  calls: number;
  micros: number;
  exceedingCalls: number;
  exceedingMicros: number;
}

/** The value of `each` whose limit it is; null without `each`. */
export type ValueOfEach = string | null;

interface ValueSums extends CallSums {
  value: ValueOfEach;
}

/** A call beyond the limit. */
export interface ExceedingCall {
  event: DashboardEvent;
  value: ValueOfEach;
  /** The period to which it belongs. A rolling one ends with the step of the call. */
  period: TimeSpan;
  /** What counted in the period before the call, in USD micros. */
  spentMicros: number;
}

export interface ReplayOutcome {
  sums: CallSums;
  /** Number of limits with calls: one for each value of `each`. */
  limits: number;
  /** The values of `each` with the most calls beyond the limit, most first. */
  values: ValueSums[];
  /** The newest calls beyond the limit, newest first. */
  exceeding: ExceedingCall[];
}

/** What was spent in a calendar period from its `start` to the first settlement, in USD micros. */
export interface EarlierSpend {
  start: number;
  byValue: ReadonlyMap<ValueOfEach, number>;
}

/** Counts settlements in a budget that never was. */
export interface BudgetReplay {
  /** Counts the next settlement in the order of time. False if there is no room for its value. */
  add(settlement: DashboardEvent): boolean;
  outcome(): Promise<ReplayOutcome>;
}

export const REPLAY_LIMITS = { values: 50_000, listedValues: 10, listedCalls: 20 };

interface Meter extends ValueSums {
  /** What counts in the period, in USD micros. */
  spent: number;
  /** The spans of which that is the sum, oldest first; several only of a rolling period. */
  spans: { start: number; micros: number }[];
}

/**
 * Replays settlements as if the budget had been created at `from`: earlier spend counts in its period, and no earlier
 * call is beyond the limit. `earlier` has the spend before the first settlement, if it counts.
 *
 * @throws RangeError if `timezone` is not a time zone.
 */
export function createBudgetReplay(
  budget: PlannedBudget,
  { timezone, from, earlier = null }: { timezone: string; from: number; earlier?: EarlierSpend | null },
  limits = REPLAY_LIMITS,
): BudgetReplay {
  const { period, each } = budget;
  const grantable = grantableMicros(budget.limitMicros, budget.gracePercent);
  const meters = new Map<ValueOfEach, Meter>();
  const sums = newSums();
  let counting = 0;
  let newest: ExceedingCall[] = [];

  function meterOf(value: ValueOfEach): Meter | null {
    const known = meters.get(value);
    if (known !== undefined) return known;
    if (meters.size >= limits.values) return null;
    const spent = earlier?.byValue.get(value) ?? 0;
    const meter: Meter = { value, ...newSums(), spent, spans: [{ start: earlier?.start ?? -Infinity, micros: spent }] };
    meters.set(value, meter);
    return meter;
  }

  function judge(event: DashboardEvent, meter: Meter, span: TimeSpan): boolean {
    const micros = event.data.amount_micros ?? 0;
    const exceeds = meter.spent + micros > grantable;
    if (meter.calls === 0) counting += 1;
    for (const each of [sums, meter]) {
      each.calls += 1;
      each.micros += micros;
      if (!exceeds) continue;
      each.exceedingCalls += 1;
      each.exceedingMicros += micros;
    }
    if (exceeds) {
      const whole = { start: countedSince(period, span), end: span.end };
      newest.push({ event, value: meter.value, period: whole, spentMicros: meter.spent });
      if (newest.length >= 2 * limits.listedCalls) newest = newest.slice(-limits.listedCalls);
    }
    return exceeds;
  }

  return {
    add(event) {
      const call = callOf(event.data);
      if (!isSelected(budget.selector, call)) return true;
      const value = each === null ? null : valueOfEach(each, call);
      if (each !== null && value === null) return true;
      const span = budgetSpanAt(period, timezone, event.time);
      if (span === null) return true;
      const meter = meterOf(value);
      if (meter === null) return false;
      enter(meter, span, countedSince(period, span));
      const exceeds = event.time >= from && judge(event, meter, span);
      if (!exceeds || !budget.denies) count(meter, event.data.amount_micros ?? 0);
      return true;
    },
    async outcome() {
      return {
        sums,
        limits: counting,
        values: await first(exceeded(meters.values()), limits.listedValues, byExceeding),
        exceeding: newest.slice(-limits.listedCalls).reverse(),
      };
    },
  };
}

function* exceeded(meters: Iterable<Meter>): Generator<ValueSums> {
  for (const meter of meters) if (meter.value !== null && meter.exceedingCalls > 0) yield meter;
}

/** Forgets spend that no longer counts. */
function enter(meter: Meter, { start }: TimeSpan, since: number): void {
  let gone = 0;
  for (const span of meter.spans) {
    if (span.start >= since) break;
    meter.spent -= span.micros;
    gone += 1;
  }
  if (gone > 0) meter.spans.splice(0, gone);
  if (meter.spans.at(-1)?.start !== start) meter.spans.push({ start, micros: 0 });
}

function count(meter: Meter, micros: number): void {
  meter.spent += micros;
  meter.spans.at(-1)!.micros += micros;
}

function newSums(): CallSums {
  return { calls: 0, micros: 0, exceedingCalls: 0, exceedingMicros: 0 };
}

/** What budgets see of a settlement. */
export function callOf({ agent_id, plan_key, model, provider, key_id, labels }: EventData): BudgetedCall {
  return {
    agent: agent_id ?? '',
    plan: plan_key ?? null,
    model: model ?? null,
    provider: provider ?? null,
    key: key_id ?? null,
    labels: labels ?? {},
  };
}

function byExceeding(a: ValueSums, b: ValueSums): number {
  if (a.exceedingCalls !== b.exceedingCalls) return b.exceedingCalls - a.exceedingCalls;
  if (a.exceedingMicros !== b.exceedingMicros) return b.exceedingMicros - a.exceedingMicros;
  return (a.value ?? '') < (b.value ?? '') ? -1 : 1;
}
