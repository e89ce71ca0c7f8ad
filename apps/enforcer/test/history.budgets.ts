import type { BudgetedCall } from '@tollkeeper/contracts';
import type { BudgetPeriod } from '@tollkeeper/kernel';
import type { ActiveBudget } from '../src/domain/active.budgets.ts';
import type { BudgetLimit } from '../src/domain/limit.ts';

interface Span {
  start: number;
  end: number;
}

const HOUR = 3_600_000;
const month = (startDay: number): BudgetPeriod => ({ kind: 'month', startMonth: 1, startDay });
const calendar = (kind: 'hour' | 'day' | 'week' | 'quarter' | 'year'): BudgetPeriod => ({
  kind,
  startMonth: 1,
  startDay: 1,
});

/** Budgets of every kind of period, selector, action and split, some of which are made only in a history. */
export function budgetsFor(beginning: number): ActiveBudget[] {
  const common = { selector: {}, each: null, overrides: null, denies: true, tellAt: [50, 80, 100] } as const;
  const budgets: Omit<ActiveBudget, 'meter' | 'name' | 'grantableMicros'>[] = [
    { ...common, id: 'hour', period: calendar('hour'), limitMicros: 150 },
    { ...common, id: 'agents', period: calendar('day'), each: 'agent', limitMicros: 120 },
    { ...common, id: 'week', period: calendar('week'), selector: { model: 'large*' }, limitMicros: 200 },
    { ...common, id: 'month', period: month(1), selector: { labels: { team: 'growth' } }, limitMicros: 160 },
    { ...common, id: 'fiscal', period: month(25), selector: { plan: 'pro' }, denies: false, limitMicros: 90 },
    { ...common, id: 'teams', period: calendar('quarter'), each: 'label:team', limitMicros: 100, tellAt: [10, 110] },
    {
      ...{ ...common, id: 'sales', period: calendar('year'), selector: { labels: { team: 'sales' } } },
      ...{ overrides: 'teams', limitMicros: 250 },
    },
    {
      ...common,
      id: 'once',
      period: { kind: 'once', start: beginning + HOUR, end: beginning + 9 * HOUR },
      limitMicros: 99,
    },
    {
      ...{ ...common, id: 'offsite', selector: { agent: 'agent-a' }, overrides: 'agents', limitMicros: 400 },
      period: { kind: 'once', start: beginning + HOUR / 2, end: beginning + 6 * HOUR },
    },
    { ...common, id: 'models', period: month(1), each: 'model', selector: { plan: 'p*' }, limitMicros: 130 },
    { ...common, id: 'rolling', period: { kind: 'rolling', seconds: 3_600 }, limitMicros: 140 },
    { ...common, id: 'day-long', period: { kind: 'rolling', seconds: 86_400 }, each: 'agent', limitMicros: 180 },
  ];
  return budgets.map((budget) => ({
    ...{ ...budget, meter: `${budget.id}.1`, name: budget.id },
    grantableMicros: budget.id === 'week' ? budget.limitMicros * 1.5 : budget.limitMicros,
  }));
}

function matches(pattern: string, value: string | null | undefined): boolean {
  if (value === null || value === undefined) return false;
  return pattern.endsWith('*') ? value.indexOf(pattern.slice(0, -1)) === 0 : pattern === value;
}

/** Budgets, each with a value that a call counts for. */
export type OfBudgets = readonly (readonly [ActiveBudget, string])[];

/** The budgets that a call is a part of, each with the value that it counts for. */
export function budgetsOf(all: readonly ActiveBudget[], call: BudgetedCall, at: number): OfBudgets {
  const valueIn = (each: string): string | null | undefined =>
    each.startsWith('label:') ? call.labels[each.slice(6)] : call[each as 'agent'];
  const isFor = ({ selector: { labels = {}, ...others } }: ActiveBudget) =>
    Object.entries(others).every(([name, pattern]) => matches(pattern!, call[name as 'agent'])) &&
    Object.entries(labels).every(([name, pattern]) => matches(pattern, call.labels[name]));
  return all.filter(isFor).flatMap((budget) => {
    const value = budget.each === null ? '' : valueIn(budget.each);
    const isRunning = ({ period }: ActiveBudget) => period.kind !== 'once' || (period.start <= at && at < period.end);
    const isOverridden = all.some((other) => other.overrides === budget.id && isRunning(other) && isFor(other));
    return value === null || value === undefined || isOverridden ? [] : [[budget, value] as const];
  });
}

/** Spend or a hold that counts in an account of a budget. */
export interface CountedIn {
  meter: string;
  value: string;
  /** The start of the period, or of the step of a rolling one. */
  start: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The name of the period of a time: it changes where a period begins. */
function nameOf(period: BudgetPeriod, timeZone: string, at: number): string {
  if (period.kind === 'once') return String(period.start <= at && at < period.end);
  if (period.kind === 'rolling') return String(Math.floor(at / ((period.seconds / 60) * 1000)));
  const known = formats.get(timeZone);
  const format =
    known ?? new Intl.DateTimeFormat('en-CA', { timeZone, hourCycle: 'h23', dateStyle: 'short', timeStyle: 'long' });
  formats.set(timeZone, format);
  const [date = '', time = ''] = format.format(at).split(', ');
  const [year = 0, ofYear = 0, day = 0] = date.split('-').map(Number);
  const months = year * 12 + ofYear - 1 - (day < period.startDay ? 1 : 0);
  const names: Record<typeof period.kind, string | number> = {
    hour: `${date} ${time.slice(0, 2)} ${time.split(' ')[1]}`,
    day: date,
    week: Math.floor((Date.UTC(year, ofYear - 1, day) / 86_400_000 - 4) / 7),
    month: months,
    quarter: Math.floor((months - period.startMonth + 1) / 3),
    year: Math.floor((months - period.startMonth + 1) / 12),
  };
  return String(names[period.kind]);
}

const DAY = 24 * HOUR;
const QUARTER_HOUR = HOUR / 4;

/** Where the period of a time begins (-1) or ends (1): first the day is sought, then the quarter of an hour or step. */
function boundary(period: BudgetPeriod, timezone: string, from: number, direction: 1 | -1): number {
  const step = period.kind === 'rolling' ? (period.seconds / 60) * 1000 : QUARTER_HOUR;
  const isIn = (at: number) => nameOf(period, timezone, at) === nameOf(period, timezone, from);
  let at = from;
  while (isIn(at + direction * DAY)) at += direction * DAY;
  at = direction === 1 ? Math.floor(at / step + 1) * step : Math.floor(at / step) * step;
  while (isIn(direction === 1 ? at : at - 1)) at += direction * step;
  return at;
}

/** The periods of budgets by the rules of the calendar alone, found by asking it for every quarter of an hour. */
export class ReferencePeriods {
  private open = new Map<string, (Span & { until: number })[]>();
  private latest = -Infinity;

  /** A day or a period begins: what is over for long is forgotten. */
  begin(start: number): void {
    this.latest = Math.max(this.latest, start);
    const kept = [...this.open].map(
      ([meter, all]) => [meter, all.filter(({ until }) => until > this.latest - HOUR)] as const,
    );
    this.open = new Map(kept);
  }

  /** The period of a meter at a time; a rolling one's step. Null if the budget is for none then. */
  at({ meter, period }: ActiveBudget, at: number, timezone: string): Span | null {
    const periods = this.open.get(meter) ?? [];
    const found = periods.find(({ start, end }) => start <= at && at < end);
    if (found !== undefined) return found;
    if (period.kind === 'once') {
      return period.start <= at && at < period.end ? { start: period.start, end: period.end } : null;
    }
    let start = boundary(period, timezone, at, -1);
    let end = boundary(period, timezone, at, 1);
    for (const other of periods) {
      if (other.end <= at) start = Math.max(start, other.end);
      if (other.start > at) end = Math.min(end, other.start);
    }
    return { start, end };
  }

  /** Where spend of a time counts. What is over is forgotten three days later, a step as soon as it has left. */
  enter(of: OfBudgets, at: number, timezone: string, now: number): void {
    for (const [budget] of of) {
      const { meter, period } = budget;
      const span = this.at(budget, at, timezone);
      if (span === null) continue;
      const until = period.kind === 'rolling' ? span.start + period.seconds * 1000 : span.end + 72 * HOUR;
      const periods = this.open.get(meter) ?? [];
      if (!periods.some(({ start }) => start === span.start)) {
        if (until <= now) continue;
        this.open.set(meter, [...periods, { ...span, until }]);
        this.begin(span.start);
      }
    }
  }

  forget(meter: string): void {
    this.open.delete(meter);
  }

  /** The start of the period or step of a time that counts in the current period; null if it does not. */
  placeIn(period: BudgetPeriod, at: number, current: Span): number | null {
    if (period.kind !== 'rolling') return at >= current.start && at < current.end ? current.start : null;
    const step = (period.seconds / 60) * 1000;
    const start = Math.floor(at / step) * step;
    return start <= current.start && start >= current.end - period.seconds * 1000 ? start : null;
  }

  /** The start of the newest period that is open and has begun. */
  newest({ meter }: ActiveBudget, now: number): number {
    const starts = (this.open.get(meter) ?? []).map(({ start }) => start);
    return Math.max(...starts.filter((start) => start <= now));
  }

  /** Whether what counts in `counted` counts in the period of the limit that contains the time. */
  isIn(counted: CountedIn, budget: ActiveBudget, value: string, current: Span): boolean {
    if (counted.meter !== budget.meter || counted.value !== value) return false;
    if (budget.period.kind !== 'rolling') return counted.start === current.start;
    return counted.start <= current.start && counted.start >= current.end - budget.period.seconds * 1000;
  }
}

export function limitOf(budget: ActiveBudget, value: string): BudgetLimit {
  const { id, name, meter, period, each, limitMicros, grantableMicros, denies, tellAt } = budget;
  const ofBudget = { name, meter, period, each, value, grantableMicros, denies, tellAt };
  return { scope: 'budget', scopeId: id, limitMicros, budget: ofBudget };
}
