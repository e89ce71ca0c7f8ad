import type { Api } from '@tollkeeper/client';
import { text } from '../../text/index.ts';
import type { SheetRow } from './sheet-rows.ts';

const words = text.budgets.sheet.median;

/** What the calls of a row cost on the median day, or why nobody knows. */
export type Median = { micros: number } | { why: string };

/** Finds the median of a row: that of the value it is for, or of the value whose limit it shows. */
export function mediansOf(answer: Api.BudgetMedians | undefined, hasFailed: boolean): (row: SheetRow) => Median {
  const byBudget = new Map(answer?.items.map((item) => [item.budget_id, item]));
  return ({ budget, value, limit }) => {
    if (answer === undefined) return { why: hasFailed ? words.failed : text.common.list.loading };
    const item = byBudget.get(budget.id);
    if (item === undefined) return { why: budget.is_active ? words.failed : words.inactive };
    if (item.median_micros !== null) return { micros: item.median_micros };
    if (item.values === undefined) return { why: whyOf(item.unknown) };
    const of = value ?? limit?.value;
    if (of === undefined) return { why: words.noValue };
    const found = item.values.find((each) => each.value === of);
    if (found !== undefined) return { micros: found.median_micros };
    return item.more_values === true ? { why: words.tooManyValues } : { micros: 0 };
  };
}

/** A newer service may have other reasons. */
function whyOf(unknown: Api.BudgetMedians['items'][number]['unknown']): string {
  return (unknown && WHY.get(unknown)) ?? words.failed;
}

const WHY = new Map<string, string>(
  Object.entries({
    not_counted: words.notCounted,
    label_not_tracked: words.notTracked,
    too_many_values: words.tooManyValues,
  } satisfies Record<NonNullable<Api.BudgetMedians['items'][number]['unknown']>, string>),
);
