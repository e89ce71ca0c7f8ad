import { expect } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import type { useBudgets } from './budgets.stack.ts';

export const TEAM = {
  name: 'Growth, per month',
  selector: { model: 'claude-*', labels: { team: 'growth', 'cost.center': '42' } },
  period: { kind: 'month', start_day: 5 },
  limit_micros: 100_000_000,
};
export const PER_USER = {
  ...{ name: 'Per user', selector: {}, each: 'label:user', period: { kind: 'day' }, limit_micros: 5 },
};
export const BOB = { ...PER_USER, name: 'Bob', selector: { labels: { user: 'bob' } }, each: null };

/** The calls of `/budgets`, as an owner. */
export function budgetCalls(budgets: ReturnType<typeof useBudgets>) {
  const post = (tenantId: TenantId, body: object) => budgets.callBudgets('post', tenantId, '', { body });
  return {
    post,
    patch: (tenantId: TenantId, id: string, body: object) => budgets.callBudgets('patch', tenantId, `/${id}`, { body }),
    read: (tenantId: TenantId, id: string) => budgets.callBudgets('get', tenantId, `/${id}`),
    remove: (tenantId: TenantId, id: string) => budgets.callBudgets('delete', tenantId, `/${id}`),
    /** The created budget. */
    async made(tenantId: TenantId, body: object): Promise<{ id: string; [field: string]: unknown }> {
      const answer = await post(tenantId, body);
      expect(answer.status).toBe(201);
      return answer.body;
    },
    listed: async (tenantId: TenantId, query = ''): Promise<Record<string, unknown>[]> =>
      (await budgets.callBudgets('get', tenantId, query)).body.items,
  };
}
