import type { Budgets } from '../domain/budget.ts';

/** The answer of an installation in which no service keeps budgets: none is set. */
export function createUnsetBudgets(): Budgets {
  return {
    ofWorkspace: async () => null,
    ofAgent: async () => null,
  };
}
