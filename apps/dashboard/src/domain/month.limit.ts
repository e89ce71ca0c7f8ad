import { type BudgetPeriod, MAX_MICROS, periodAt, type TimeSpan } from '@tollkeeper/kernel';

const HOUR_MS = 3_600_000;

/**
 * Finds what limits come to over a month: each counts once for each of its periods in the month. A period that lies
 * partly in it counts by the length of that part, so a third of a quarter, and a week that begins in the month before.
 */
export function limitsOver(month: TimeSpan, timezone: string): (limitMicros: number, period: BudgetPeriod) => number {
  // Thousands of budgets have the same period.
  const known = new Map<string, number>();
  return (limitMicros, period) => {
    const key = JSON.stringify(period);
    const periods = known.get(key) ?? periodsIn(month, period, timezone);
    known.set(key, periods);
    return Math.min(Math.round(limitMicros * periods), MAX_MICROS);
  };
}

/** Whether the budget is for no time of the month, or only for a part of it. */
export function isPartly(month: TimeSpan, period: BudgetPeriod): boolean {
  return period.kind === 'once' && (period.start > month.start || period.end < month.end);
}

function periodsIn(month: TimeSpan, period: BudgetPeriod, timezone: string): number {
  const lengthMs = month.end - month.start;
  switch (period.kind) {
    case 'hour':
      return lengthMs / HOUR_MS;
    case 'rolling':
      return lengthMs / (period.seconds * 1000);
    case 'once':
      return partOf(period, month);
    case 'day':
    case 'week':
    case 'month':
    case 'quarter':
    case 'year': {
      let periods = 0;
      for (let time = month.start; time < month.end;) {
        const span = periodAt(period, timezone, time);
        periods += partOf(span, month);
        time = span.end;
      }
      return periods;
    }
  }
}

/** The part of `span` within `month`, from 0 to 1. */
function partOf(span: TimeSpan, month: TimeSpan): number {
  const ms = Math.min(span.end, month.end) - Math.max(span.start, month.start);
  return Math.max(0, ms) / (span.end - span.start);
}
