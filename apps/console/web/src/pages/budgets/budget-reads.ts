import type { Api } from '@tollkeeper/client';

/** The operations whose answers change with a budget. */
export const BUDGET_READS = [
  'GET /api/v1/budgets',
  'GET /api/v1/limits',
  'GET /api/v1/workspaces/{tenant_id}/budgets/workspace',
  'GET /api/v1/workspaces/{tenant_id}/budgets/history',
  'GET /api/v1/dashboard/overview',
  'GET /api/v1/dashboard/budget-medians',
  'GET /api/v1/dashboard/top-agents/details',
] as const;

/** The daily budget that a budget is; `none` for one with a selector and a period of its own. */
export type Origin = NonNullable<Api.Budget['origin']> | 'none';

export function originOf(budget: Api.Budget | null): Origin {
  return budget?.origin ?? 'none';
}
