import { useSearch } from '@tanstack/react-router';

/** The scope and the id of a budget, as in an address. */
export type BudgetName = `${'workspace' | 'agent' | 'plan'}/${string}`;

/** What the list of agents is searched for, and the budget that somebody was led to. */
export interface BudgetsSearch {
  agents?: string;
  budget?: BudgetName;
}

export function parseBudgetsSearch({ agents, budget }: Record<string, unknown>): BudgetsSearch {
  return {
    ...(typeof agents === 'string' && { agents }),
    ...(typeof budget === 'string' && /^(workspace|agent|plan)\//.test(budget) && { budget: budget as BudgetName }),
  };
}

export function useBudgetsSearch(): BudgetsSearch {
  return useSearch({ from: '/account/w/$slug/budgets' });
}
