import { type Api, useRead } from '../../api/api.ts';
import type { BudgetScope } from './budgets-search.ts';

/** The use of a daily budget today; undefined while it is unknown or no budget is set. */
export function useLimitOf(scope: BudgetScope): (scopeId: string) => Api.Limit | undefined {
  const { data } = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const limits = new Map(data?.items.filter((each) => each.scope === scope).map((each) => [each.scope_id, each]));
  return (scopeId) => limits.get(scopeId);
}
