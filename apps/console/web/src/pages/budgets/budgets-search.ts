import { useSearch } from '@tanstack/react-router';
import type { Api } from '@tollkeeper/client';
import { useState } from 'react';

export type BudgetScope = Api.Limit['scope'];

/** What a daily budget can be set for. */
export const BUDGET_SCOPES = Object.keys({ workspace: null, agent: null, plan: null } satisfies Record<
  BudgetScope,
  null
>) as BudgetScope[];

/** The scope and the id of a budget, as in an address. */
export type BudgetName = `${BudgetScope}/${string}`;

/** What the list of agents is searched for, and the budget that somebody was led to. */
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
