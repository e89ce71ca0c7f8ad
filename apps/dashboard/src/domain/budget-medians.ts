import { localDays, type TimeSpan } from '@tollkeeper/kernel';
import {
  type InTurn,
  type SelectedSpend,
  type SelectingBudget,
  selectSpend,
  type UnknownSpend,
} from './budget.spend.ts';

/** The days of a median, which are whole and local. */
export const MEDIAN_DAYS = 14;
/** Most values in the median of a budget with a limit for each. */
export const MAX_MEDIAN_VALUES = 100;

/** What a budget would have counted on the median day, in USD micros. */
export type BudgetMedian = { id: string } & (
  | { micros: number }
  /** For a budget with `each`: those that spent most, largest first. `more`: there are further ones. */
  | { values: { value: string; micros: number }[]; more: boolean }
  | { unknown: UnknownSpend }
);

/** The last whole local days before the instant, oldest first. */
export function daysBefore(at: number, timezone: string): TimeSpan[] {
  const today = localDays({ start: at, end: at + 1 }, timezone)[0]!;
  // Days last up to 25 hours, and a zone that jumps the date line skips one.
  const start = today.start - (MEDIAN_DAYS + 2) * 86_400_000;
  return localDays({ start, end: today.start }, timezone).slice(-MEDIAN_DAYS);
}

/** Half of the values are at most as large; 0 for none. Between two, it is their mean, rounded. */
export function medianOf(values: Iterable<number>): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? upper;
  return Math.round(lower + (upper - lower) / 2);
}

/** The medians of budgets, in their order, over the days that `inTurn` reads. */
export async function findMedians(
  budgets: readonly SelectingBudget[],
  tracked: readonly string[],
  inTurn: InTurn,
): Promise<BudgetMedian[]> {
  const medians = await selectSpend(budgets, tracked, inTurn, toMedian);
  return budgets.map(({ id }, index) => ({ id, ...medians[index]! }));
}

function toMedian(spend: SelectedSpend) {
  if ('micros' in spend) return { micros: medianOf(spend.micros) };
  const values = spend.values.slice(0, MAX_MEDIAN_VALUES);
  return {
    values: values.map(({ value, micros }) => ({ value, micros: medianOf(micros) })),
    more: spend.values.length > values.length,
  };
}
