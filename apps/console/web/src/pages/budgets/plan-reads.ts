/** The operations whose answers change with a plan. */
export const PLAN_READS = ['GET /api/v1/workspaces/{tenant_id}/budgets/plans', 'GET /api/v1/limits'] as const;
