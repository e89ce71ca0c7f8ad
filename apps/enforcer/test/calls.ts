import { createActiveBudgets } from '../src/domain/active.budgets.ts';
import type { BudgetSource } from '../src/domain/peers.ts';
/** What a request has of a call of which only the agent, the run and the plan are known. */
export const UNKNOWN = { keyId: null, model: null, provider: null, labels: {}, pinned: {}, ofAgent: {} } as const;

const none = createActiveBudgets([], 0);
/** Workspaces without budgets of any selector. */
export const NO_BUDGETS: BudgetSource = { of: () => none, since: async () => none };
