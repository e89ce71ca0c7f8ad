import type { Api } from '@tollkeeper/client';
import { money } from '../format/money.ts';
import { count } from '../format/numbers.ts';
import { dateTime } from '../format/time.ts';
import { counted } from './plurals.ts';

const CALLS = { one: 'call', other: 'calls' };
const BEYOND = { one: 'call beyond the limit', other: 'calls beyond the limit' };
const LIMITS = { one: 'limit', other: 'limits' };

type Sums = Pick<Api.BudgetPreview, 'calls' | 'total_micros' | 'exceeding_calls' | 'exceeding_micros'>;
type Value = Api.BudgetPreview['values'][number];

const SENTENCES: Record<Api.Budget['action'], (some: string, all: string) => string> = {
  deny: (some, all) => `In the last 7 days, this would have blocked ${some} of ${all}.`,
  warn: (some, all) => `In the last 7 days, ${some} of ${all} would have exceeded this, which is only reported.`,
};
const NONE: Record<Api.Budget['action'], (all: string) => string> = {
  deny: (all) => `In the last 7 days, this would have blocked none of ${all}.`,
  warn: (all) => `In the last 7 days, none of ${all} would have exceeded this.`,
};

export const budgetPreview = {
  label: 'Preview',
  missing: 'Enter a limit to see which calls of the last 7 days it would have affected.',
  loading: 'Checking the calls of the last 7 days…',
  failed: (message: string) => `No preview. ${message}`,
  sentence(action: Api.Budget['action'], { calls, total_micros, exceeding_calls, exceeding_micros }: Sums): string {
    if (calls === 0) return 'No calls of the last 7 days count in this budget.';
    if (exceeding_calls === 0) return NONE[action](`${counted(calls, CALLS)} (${money(total_micros)})`);
    const all = `${counted(calls, CALLS)} (${money(exceeding_micros)} of ${money(total_micros)})`;
    return SENTENCES[action](count(exceeding_calls), all);
  },
  partial: (until: string, zone: string) =>
    `There are too many calls, so only those before ${dateTime(until, zone)} count.`,
  misses: (since: string, zone: string) =>
    `Spend of the period before ${dateTime(since, zone)} is not counted, so more calls may be affected.`,
  /** The most affected values, of `limits` in all. */
  values(values: readonly Value[], limits: number): string {
    const named = values.map(
      ({ value, display_name, calls, exceeding_calls }) =>
        `${display_name ?? value} (${count(exceeding_calls)} of ${counted(calls, CALLS)})`,
    );
    return `Most affected${limits > values.length ? ` of ${counted(limits, LIMITS)}` : ''}: ${named.join(', ')}.`;
  },
  show(shown: number, all: number): string {
    return shown < all ? `The newest ${shown} of ${counted(all, BEYOND)}` : counted(all, BEYOND);
  },
  table: 'Affected calls',
  column: {
    time: 'Time',
    agent: 'Agent',
    value: 'Limit of',
    cost: 'Cost',
    spent: 'Spent before',
    model: 'Model',
    plan: 'Plan',
  },
};
