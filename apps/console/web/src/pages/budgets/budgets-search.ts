import { useSearch } from '@tanstack/react-router';
import type { Api } from '@tollkeeper/client';
import { useState } from 'react';

/** The scopes of daily budgets, which the page has. Limits can also be of budgets with a selector. */
export type BudgetScope = Exclude<Api.Limit['scope'], 'budget'>;

export const BUDGET_SCOPES = Object.keys({ workspace: null, agent: null, plan: null } satisfies Record<
  BudgetScope,
  null
>) as BudgetScope[];

/** The scope and the id of a budget, as in a URL. */
export type BudgetName = `${BudgetScope}/${string}`;

/** The search text of the list of agents, and the budget that a link leads to. */
export interface BudgetsSearch {
  agents?: string;
  budget?: BudgetName;
}

export function parseBudgetsSearch({ agents, budget }: Record<string, unknown>): BudgetsSearch {
  return {
    ...(typeof agents === 'string' && { agents }),
    ...(isBudgetName(budget) && { budget }),
  };
}

function isBudgetName(budget: unknown): budget is BudgetName {
  return typeof budget === 'string' && BUDGET_SCOPES.some((scope) => budget.startsWith(`${scope}/`));
}

export function useBudgetsSearch(): BudgetsSearch {
  return useSearch({ from: '/account/w/$slug/budgets' });
}

/** For the cell of a budget: whether a link leads to it, and a callback for when it has the focus. */
export function useLedTo(): (name: BudgetName) => { isLedTo: boolean; onArrived: () => void } {
  const { budget } = useBudgetsSearch();
  // A row that is redrawn, as in a long list, must not take the focus again.
  const [arrived] = useState(() => new Set<BudgetName>());
  return (name) => ({
    isLedTo: budget === name && !arrived.has(name),
    onArrived: () => void arrived.add(name),
  });
}
