import type { Temporal } from 'temporal-polyfill';
import { startOfDate, type TimeSpan, toLocal } from './calendar.ts';

export const CALENDAR_PERIODS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

/** A span of the calendar that repeats. A week begins on Monday. */
export interface CalendarPeriod {
  kind: (typeof CALENDAR_PERIODS)[number];
  /** The month in which quarters and years begin, 1 to 12. Of no effect on other kinds. */
  startMonth: number;
  /** The day on which months, quarters and years begin, 1 to 28. Of no effect on other kinds. */
  startDay: number;
}

/** The time that the limit of a budget is for. */
export type BudgetPeriod =
  | CalendarPeriod
  /** Once, from `start` to before `end`, in epoch milliseconds. */
  | { kind: 'once'; start: number; end: number }
  /** The last `seconds`, in steps of a 60th of them: spend leaves the period together with its step. */
  | { kind: 'rolling'; seconds: number };

export const BUDGET_PERIODS = [
  ...CALENDAR_PERIODS,
  'once',
  'rolling',
] as const satisfies readonly BudgetPeriod['kind'][];

/** Number of steps in a rolling period. */
const ROLLING_STEPS = 60;

const HOUR_MS = 3_600_000;

type SpanOf = (local: Temporal.ZonedDateTime, period: CalendarPeriod) => TimeSpan;

const SPANS: Record<CalendarPeriod['kind'], SpanOf> = {
  hour: hourOf,
  day: spanOfDates({ days: 1 }, (date) => date),
  week: spanOfDates({ weeks: 1 }, (date) => date.subtract({ days: date.dayOfWeek - 1 })),
  month: spanOfDates({ months: 1 }, startOfMonths(1)),
  quarter: spanOfDates({ months: 3 }, startOfMonths(3)),
  year: spanOfDates({ years: 1 }, startOfMonths(12)),
};

/** The date on which the period begins that contains a date. */
type StartOf = (date: Temporal.PlainDate, period: CalendarPeriod) => Temporal.PlainDate;

function spanOfDates(length: Temporal.DurationLike, startOf: StartOf): SpanOf {
  return (local, period) => {
    const date = startOf(local.toPlainDate(), period);
    return {
      start: startOfDate(date, local.timeZoneId),
      end: startOfDate(date.add(length), local.timeZoneId),
    };
  };
}

function startOfMonths(count: number): StartOf {
  return (date, { startMonth, startDay }) => {
    // No month has fewer than 28 days, so this is a date of the month in which the fiscal month began.
    const month = date.subtract({ days: startDay - 1 });
    return month.with({ day: startDay }).subtract({ months: (month.month - startMonth + 12) % count });
  };
}

/**
 * The period that contains the time, in the calendar of the time zone: a day of 23 or 25 hours included.
 *
 * @throws RangeError if `timezone` is not a time zone.
 */
export function periodAt(period: CalendarPeriod, timezone: string, at: number): TimeSpan {
  return SPANS[period.kind](toLocal(at, timezone), period);
}

/** The hour of the wall clock. Where clocks move within it, it ends, and another one begins. */
function hourOf(local: Temporal.ZonedDateTime): TimeSpan {
  const { epochMilliseconds: at, offsetNanoseconds } = local;
  const start = at - ((at + offsetNanoseconds / 1e6) % HOUR_MS);
  const moved = local.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity;
  const moves = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity;
  return { start: Math.max(start, moved), end: Math.min(start + HOUR_MS, moves) };
}

/** The last span of each period: the calendar is too slow for every call. */
const lastSpans = new WeakMap<BudgetPeriod, { timezone: string; span: TimeSpan }>();

/**
 * The span of the budget's period that contains the time; of a rolling period, its step. Null if the period is once, at
 * another time. Fast for the same `period` object and times close to each other.
 *
 * @throws RangeError if `timezone` is not a time zone.
 */
export function budgetSpanAt(period: BudgetPeriod, timezone: string, at: number): TimeSpan | null {
  switch (period.kind) {
    case 'once':
      return period.start <= at && at < period.end ? { start: period.start, end: period.end } : null;
    case 'rolling': {
      const step = rollingStepMs(period);
      const start = Math.floor(at / step) * step;
      return { start, end: start + step };
    }
    default: {
      const last = lastSpans.get(period);
      if (last?.timezone === timezone && last.span.start <= at && at < last.span.end) return last.span;
      const span = periodAt(period, timezone, at);
      lastSpans.set(period, { timezone, span });
      return span;
    }
  }
}

/** The length of a step of a rolling period, in milliseconds. */
export function rollingStepMs({ seconds }: { seconds: number }): number {
  return (seconds / ROLLING_STEPS) * 1000;
}

/** The first time whose spend counts in the period of which `span` is the current one: see {@link budgetSpanAt}. */
export function countedSince(period: BudgetPeriod, span: TimeSpan): number {
  return period.kind === 'rolling' ? span.end - period.seconds * 1000 : span.start;
}
