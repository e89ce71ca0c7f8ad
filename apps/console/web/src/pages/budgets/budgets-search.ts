import { useNavigate, useSearch } from '@tanstack/react-router';

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

/** For the cell of a budget: whether somebody was led to it, and that they are there now. */
export function useLedTo(): (name: BudgetName) => { isLedTo: boolean; onArrived: () => void } {
  const { budget } = useBudgetsSearch();
  const navigate = useNavigate();
  return (name) => ({
    isLedTo: budget === name,
    // A row that is drawn again would take the focus again.
    onArrived: () =>
      void navigate({
        from: '/w/$slug/budgets',
        to: '.',
        search: ({ budget: _budget, ...rest }: BudgetsSearch) => rest,
        replace: true,
        resetScroll: false,
      }),
  });
}
