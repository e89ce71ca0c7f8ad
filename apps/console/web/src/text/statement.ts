import type { Api } from '@tollkeeper/client';
import { counted } from './plurals.ts';

type Unknown = NonNullable<Api.StatementBudget['unknown']>;
type By = Api.Statement['blocked']['reasons'][number]['by'];

const CALLS = { one: 'call', other: 'calls' };
const OTHERS = { one: 'other', other: 'others' };

/** Loaded with its page, to keep the first page small. */
export const statement = {
  title: (month: string) => `Statement of ${month}`,
  line: (workspace: string, days: string, zone: string) => `${workspace}, ${days} (${zone})`,
  running: 'The month is still running. It is compared with the same days of the month before.',
  complete: 'The month is complete. Late calls and corrections can still change it.',
  month: 'Month',
  print: 'Print',
  showSpend: 'Show spend',
  spend: 'Spend',
  before: (month: string) => `Spend in ${month}`,
  beforeRunning: (month: string) => `Same days of ${month}`,
  calls: 'Settled calls',
  blockedCalls: 'Blocked calls',
  unpriced: (calls: number) =>
    `${counted(calls, CALLS)} without a known price ${calls === 1 ? 'counts' : 'count'} as $0.00.`,
  unmetered: (calls: number) =>
    `${counted(calls, CALLS)} reported neither tokens nor a cost and ${calls === 1 ? 'is' : 'are'} not included.`,
  none: 'No spend.',
  share: 'Share',
  others: (count: number) => counted(count, OTHERS),
  further: 'All others',
  budgets: {
    title: 'Budgets',
    none: 'No budgets.',
    line: 'Limits as they are now, without raises',
    name: 'Budget',
    spent: 'Spent',
    limit: 'Limit in the month',
    used: 'Used',
    limitOf: (limit: string, period: string) => `${limit} ${period}`,
    each: (each: string, value: string, values: number) =>
      values === 1 ? `each ${each}: ${value}` : `each ${each}: ${value}, the most of ${values}`,
    nothing: (each: string) => `each ${each}: no spend`,
    unknown: {
      not_counted: 'spend not counted by month',
      label_not_tracked: 'label not tracked',
      too_many_values: 'too many values to count',
      part_of_month: 'for a part of the month only',
    } satisfies Record<Unknown, string>,
    others: (count: number) => `${counted(count, { one: 'budget', other: 'budgets' })} used less.`,
  },
  raises: {
    title: 'Raises',
    none: 'No limit was raised.',
    name: 'Budget',
    amount: 'Amount',
    until: 'Until',
    nameOf: (budget: string, value: string | null) => (value === null ? budget : `${budget}: ${value}`),
    by: (asker: string, granter: string) =>
      asker === granter ? `granted by ${granter}` : `asked by ${asker}, granted by ${granter}`,
    others: (count: number) => `${counted(count, { one: 'smaller raise', other: 'smaller raises' })}`,
  },
  blocked: {
    title: 'Blocked calls',
    none: 'No call was blocked.',
    name: 'Reason',
    by: 'By',
    calls: 'Calls',
    byOf: { budget: 'Budget', pause: 'Pause', guard: 'Guard' } satisfies Record<By, string>,
    others: 'Other reasons',
  },
  rounded: 'Amounts are rounded to cents. Download CSV of a table has every digit.',
};
