import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';

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

/** For the cell of a budget: whether somebody is led to it, and that they are there now. */
export function useLedTo(): (name: BudgetName) => { isLedTo: boolean; onArrived: () => void } {
  const { budget } = useBudgetsSearch();
  // A row that is drawn again, as in a long list, must not take the focus again.
  const [arrived] = useState(() => new Set<BudgetName>());
  return (name) => ({
    isLedTo: budget === name && !arrived.has(name),
    onArrived: () => void arrived.add(name),
  });
}
