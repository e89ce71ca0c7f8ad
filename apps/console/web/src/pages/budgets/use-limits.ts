import { type Api, useRead } from '../../api/api.ts';

/** The use of a budget today; undefined while it is unknown or no budget is set. */
export function useLimitOf(scope: Api.Limit['scope']): (scopeId: string) => Api.Limit | undefined {
  const { data } = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const limits = new Map(data?.items.filter((each) => each.scope === scope).map((each) => [each.scope_id, each]));
  return (scopeId) => limits.get(scopeId);
}
