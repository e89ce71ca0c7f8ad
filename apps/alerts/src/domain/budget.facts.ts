import { budgetSpanAt, countedSince } from '@tollkeeper/kernel';
import { ALL_CALLS, type BudgetFacts, type BudgetTerms } from './budget.terms.ts';
import { OTHER } from './step-sums.ts';

/** What an alert says of the budget whose series met a condition at the time. */
export function budgetFactsOf(terms: BudgetTerms, series: string, at: number): BudgetFacts {
  const { id, name, limitMicros, period, timezone } = terms;
  const span = budgetSpanAt(period, timezone, at);
  return {
    ...{ budgetId: id, budgetName: name, limitMicros, periodKind: period.kind },
    period: span && { start: countedSince(period, span), end: span.end },
    value: series === ALL_CALLS || series === OTHER ? null : series,
    isOfOthers: series === OTHER,
  };
}
