import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { BudgetsSearch } from './budgets-search.ts';

export function useBudgetsSearch() {
  const search = useSearch({ from: '/account/w/$slug/budgets' });
  const navigate = useNavigate();
  return {
    search,
    /** Changes what is shown. Undefined values leave the URL, and so does the budget that a link led to. */
    show: (change: { [Part in keyof BudgetsSearch]: BudgetsSearch[Part] | undefined }) =>
      void navigate({
        from: '/w/$slug/budgets',
        to: '.',
        search: (before) => ({ ...before, budget: undefined, ...change }),
        replace: true,
        resetScroll: false,
      }),
  };
}

/** For the cell of a budget: whether a link leads to it, and a callback for when it has the focus. */
export function useLedTo(): (id: string) => { isLedTo: boolean; onArrived: () => void } {
  const { budget } = useSearch({ from: '/account/w/$slug/budgets' });
  // A row that is redrawn, as in a long list, must not take the focus again.
  const [arrived] = useState(() => new Set<string>());
  return (id) => ({
    isLedTo: budget === id && !arrived.has(id),
    onArrived: () => void arrived.add(id),
  });
}
