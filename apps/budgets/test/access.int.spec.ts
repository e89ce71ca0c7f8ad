import { describe, expect, it } from '@jest/globals';
import { signCallerToken } from '@tollkeeper/http';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);

const BUDGET = { daily_budget_usd_micros: 5 };
const PLAN = { plan_key: 'research', display_name: 'Research', ...BUDGET };

describe.each([
  ['get', '/workspace', undefined],
  ['put', '/workspace', BUDGET],
  ['get', '/agents', undefined],
  ['put', '/agents/planner', BUDGET],
  ['get', '/plans', undefined],
  ['post', '/plans', PLAN],
  ['put', '/plans/research', { is_active: false }],
  ['delete', '/plans/research', undefined],
  ['get', '/history', undefined],
] as const)('%s %s', (method, below, body) => {
  it('needs an owner', async () => {
    for (const role of ['member', 'admin'] as const) {
      expect((await budgets.call(method, newTenant(), below, { role, body })).status).toBe(403);
    }
  });

  it('refuses a missing and a forged caller', async () => {
    const tenantId = newTenant();
    const owner = { userId: 'user_1', tenantId, role: 'owner' as const };
    const forged = await signCallerToken('another-secret-with-enough-bytes-in-it', 'budgets', owner);
    expect((await budgets.call(method, tenantId, below, { token: null, body })).status).toBe(401);
    expect((await budgets.call(method, tenantId, below, { token: forged, body })).status).toBe(401);
  });

  it("refuses the path of a workspace that is not the caller's, whether it exists or not", async () => {
    const [caller, other] = [newTenant(), newTenant()];
    budgets.identity.register(other, 'planner');
    await budgets.call('post', other, '/plans', { body: PLAN });
    const before = await budgets.list(other, '/plans');

    for (const pathTenant of [other, newTenant()]) {
      const answer = await budgets.call(method, caller, below, { pathTenant, body });
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(await budgets.list(other, '/plans')).toEqual(before);
    expect(await budgets.getBudgets(other, ['planner'])).toMatchObject({ agents: [] });
  });
});

const PAUSE_BODY = { scope: 'agent', value: 'planner', reason: 'Loops' };

describe.each([
  ['get', '', undefined],
  ['post', '', PAUSE_BODY],
  ['delete', '/pau_1', undefined],
] as const)('%s /api/v1/pauses%s', (method, below, body) => {
  it(method === 'get' ? 'is for every member' : 'needs an admin, and changes nothing for members', async () => {
    const tenantId = newTenant();
    const { status } = await budgets.callPauses(method, tenantId, below, { role: 'member', body });
    expect(status).toBe(method === 'get' ? 200 : 403);
    expect(await budgets.listPauses(tenantId)).toEqual([]);
  });

  it('refuses a missing and a forged caller', async () => {
    const tenantId = newTenant();
    const owner = { userId: 'user_1', tenantId, role: 'owner' as const };
    const forged = await signCallerToken('another-secret-with-enough-bytes-in-it', 'budgets', owner);
    for (const token of [null, forged]) {
      expect((await budgets.callPauses(method, tenantId, below, { token, body })).status).toBe(401);
    }
  });
});

const BUDGET_BODY = { name: 'B', selector: {}, period: { kind: 'day' }, limit_micros: 5 };

describe.each([
  ['get', '', undefined],
  ['post', '', BUDGET_BODY],
  ['get', '/bud_workspace', undefined],
  ['patch', '/bud_workspace', { limit_micros: 7 }],
  ['delete', '/bud_workspace', undefined],
] as const)('%s /api/v1/budgets%s', (method, below, body) => {
  it(method === 'get' ? 'is for every member' : 'needs an owner, and changes nothing for others', async () => {
    const tenantId = newTenant();
    await budgets.setDaily(tenantId, '/workspace', 5);
    for (const role of ['member', 'admin'] as const) {
      const { status } = await budgets.callBudgets(method, tenantId, below, { role, body });
      expect(status).toBe(method === 'get' ? 200 : 403);
    }
    expect(await budgets.listBudgets(tenantId)).toMatchObject({ dailyBudgetUsdMicros: 5 });
    expect(await budgets.listActiveBudgets(tenantId)).toEqual([]);
  });

  it('refuses a missing and a forged caller', async () => {
    const tenantId = newTenant();
    const owner = { userId: 'user_1', tenantId, role: 'owner' as const };
    const forged = await signCallerToken('another-secret-with-enough-bytes-in-it', 'budgets', owner);
    for (const token of [null, forged]) {
      expect((await budgets.callBudgets(method, tenantId, below, { token, body })).status).toBe(401);
    }
  });
});
