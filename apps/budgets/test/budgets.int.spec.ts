import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);

const createPlan = (tenantId: TenantId, key: string) =>
  budgets.call('post', tenantId, '/plans', {
    body: { plan_key: key, display_name: key, daily_budget_usd_micros: 5 },
  });

const NOT_A_BUDGET = [
  ['a negative amount', { daily_budget_usd_micros: -1 }],
  ['a fraction', { daily_budget_usd_micros: 0.5 }],
  ['more than JSON numbers carry exactly', { daily_budget_usd_micros: Number.MAX_SAFE_INTEGER + 1 }],
  ['digits in a string', { daily_budget_usd_micros: '5' }],
  ['an operator object', { daily_budget_usd_micros: { $gt: 0 } }],
  ['nothing', {}],
] as const;

describe('the budget of the workspace', () => {
  it('is null until it is set, and exactly what was set from then on', async () => {
    const tenantId = newTenant();
    const unset = await budgets.call('get', tenantId, '/workspace');
    expect([unset.status, unset.body]).toEqual([200, { tenant_id: tenantId, daily_budget_usd_micros: null }]);

    for (const micros of [25_000_000, 0, Number.MAX_SAFE_INTEGER]) {
      const set = await budgets.setDaily(tenantId, '/workspace', micros);
      expect([set.status, set.body]).toEqual([200, { tenant_id: tenantId, daily_budget_usd_micros: micros }]);
      expect((await budgets.call('get', tenantId, '/workspace')).body).toEqual(set.body);
    }
  });

  it('is unset by null', async () => {
    const tenantId = newTenant();
    await budgets.setDaily(tenantId, '/workspace', 5);
    const unset = await budgets.setDaily(tenantId, '/workspace', null);
    expect([unset.status, unset.body]).toEqual([200, { tenant_id: tenantId, daily_budget_usd_micros: null }]);
    expect((await budgets.call('get', tenantId, '/workspace')).body).toEqual(unset.body);
  });

  it.each(NOT_A_BUDGET)('refuses %s and names the field', async (_case, body) => {
    const tenantId = newTenant();
    await budgets.setDaily(tenantId, '/workspace', 5);
    const refused = await budgets.put(tenantId, '/workspace', body);
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'daily_budget_usd_micros' }] } });
    expect((await budgets.call('get', tenantId, '/workspace')).body.daily_budget_usd_micros).toBe(5);
  });

  it('refuses a field that it does not know', async () => {
    const body = { daily_budget_usd_micros: 5, weekly_budget_usd_micros: 35 };
    const refused = await budgets.put(newTenant(), '/workspace', body);
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'weekly_budget_usd_micros' }] } });
  });

  it('can be set for the first time by many calls at once', async () => {
    const tenantId = newTenant();
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => budgets.setDaily(tenantId, '/workspace', n)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await budgets.call('get', tenantId, '/workspace')).body.daily_budget_usd_micros).toBeGreaterThan(0);
  });
});

describe('the budgets of agents', () => {
  it('list every agent of the workspace, set or not, and none of another workspace', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    budgets.identity.register(tenantId, 'coder', 'planner');
    budgets.identity.register(other, 'coder');
    await budgets.setDaily(other, '/agents/coder', 77);
    await budgets.setDaily(tenantId, '/agents/planner', 5);
    const updatedAt = new Date(budgets.clock.now).toISOString();

    expect(await budgets.list(tenantId, '/agents')).toEqual([
      { agent_id: 'coder', display_name: 'CODER', daily_budget_usd_micros: null, updated_at: null },
      { agent_id: 'planner', display_name: 'PLANNER', daily_budget_usd_micros: 5, updated_at: updatedAt },
    ]);
  });

  it('are an empty list in a workspace without agents', async () => {
    expect(await budgets.list(newTenant(), '/agents')).toEqual([]);
  });

  it('are set, replaced and unset, and say when', async () => {
    const tenantId = newTenant();
    budgets.identity.register(tenantId, 'planner');
    for (const micros of [5, 0, null]) {
      budgets.clock.now += 1000;
      const set = await budgets.setDaily(tenantId, '/agents/planner', micros);
      expect([set.status, set.body]).toEqual([200, { agent_id: 'planner', daily_budget_usd_micros: micros }]);
      const updatedAt = new Date(budgets.clock.now).toISOString();
      expect(await budgets.list(tenantId, '/agents')).toMatchObject([
        { daily_budget_usd_micros: micros, updated_at: updatedAt },
      ]);
    }
  });

  it('are 404 for an agent that the workspace does not have, though another one has it', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    budgets.identity.register(other, 'planner');
    const answer = await budgets.setDaily(tenantId, '/agents/planner', 5);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await budgets.getBudgets(tenantId, ['planner'])).toMatchObject({ agents: [] });
  });

  it.each(NOT_A_BUDGET)('refuse %s before it asks whether the agent exists', async (_case, body) => {
    expect((await budgets.put(newTenant(), '/agents/nobody', body)).status).toBe(400);
  });

  it.each(['%00', '%24ne', '%ff', 'a'.repeat(129)])('refuse the agent_id %s', async (agentId) => {
    expect((await budgets.setDaily(newTenant(), `/agents/${agentId}`, 5)).status).toBe(400);
  });

  it('are 503 while identity is down, and all other budgets stay in service', async () => {
    const tenantId = newTenant();
    budgets.identity.register(tenantId, 'planner');
    await budgets.identity.stop();
    try {
      for (const answer of [
        await budgets.call('get', tenantId, '/agents'),
        await budgets.setDaily(tenantId, '/agents/planner', 5),
      ]) {
        expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
        expect(answer.get('retry-after')).toBe('1');
      }
      expect((await budgets.setDaily(tenantId, '/workspace', 5)).status).toBe(200);
      expect((await budgets.call('get', tenantId, '/plans')).status).toBe(200);
      await expect(budgets.ready()).resolves.toBeUndefined();
    } finally {
      await budgets.identity.start();
    }
  });
});

describe('GetBudgets', () => {
  it('answers the budgets that are set, of the workspace and of the agents asked for', async () => {
    const tenantId = newTenant();
    budgets.identity.register(tenantId, 'a', 'b', 'c', 'd');
    await budgets.setDaily(tenantId, '/workspace', Number.MAX_SAFE_INTEGER);
    for (const agentId of ['d', 'b', 'a']) await budgets.setDaily(tenantId, `/agents/${agentId}`, 7);
    await budgets.setDaily(tenantId, '/agents/b', null);

    expect(await budgets.getBudgets(tenantId, ['d', 'c', 'b'])).toMatchObject({
      dailyBudgetUsdMicros: Number.MAX_SAFE_INTEGER,
      agents: [{ agentId: 'd', dailyBudgetUsdMicros: 7 }],
    });
    expect((await budgets.getBudgets(tenantId)).agents).toEqual([]);
  });

  it('distinguishes a budget of 0 from no budget', async () => {
    const tenantId = newTenant();
    expect((await budgets.getBudgets(tenantId)).dailyBudgetUsdMicros).toBeUndefined();
    await budgets.setDaily(tenantId, '/workspace', 0);
    expect((await budgets.getBudgets(tenantId)).dailyBudgetUsdMicros).toBe(0);
  });

  it('answers the plans asked for that the workspace has, by key, active or not', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    for (const key of ['c', 'b', 'a']) await createPlan(tenantId, key);
    await createPlan(other, 'd');
    await budgets.put(tenantId, '/plans/a', { is_active: false });

    expect((await budgets.getBudgets(tenantId, [], ['c', 'a', 'd', 'none'])).plans).toEqual([
      { planKey: 'a', dailyBudgetUsdMicros: 5, isActive: false },
      { planKey: 'c', dailyBudgetUsdMicros: 5, isActive: true },
    ]);
    expect((await budgets.getBudgets(tenantId)).plans).toEqual([]);
  });

  const thousandAndOne = Array.from({ length: 1001 }, (_, index) => `id-${index}`);
  it.each([
    ['no tenant', '', [], [], 'tenant_id'],
    ['a tenant of another shape', '$ne', [], [], 'tenant_id'],
    ['an agent whose id is too long', 'ws_1', ['a', 'a'.repeat(129)], [], 'agent_ids[1]'],
    ['more than 1000 agents', 'ws_1', thousandAndOne, [], 'agent_ids'],
    ['a plan whose key is too long', 'ws_1', [], ['a', 'a'.repeat(65)], 'plan_keys[1]'],
    ['more than 1000 plans', 'ws_1', [], thousandAndOne, 'plan_keys'],
  ])('refuses %s by the name of the field', async (_case, tenantId, agentIds, planKeys, path) => {
    await expect(budgets.getBudgets(tenantId, agentIds, planKeys)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path }],
    });
  });
});

describe('ListBudgets', () => {
  it('answers all that is set in the workspace: its budget, agents by id, and plans by key', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    budgets.identity.register(tenantId, 'a', 'b', 'c', 'd');
    budgets.identity.register(other, 'e');
    await budgets.setDaily(tenantId, '/workspace', 0);
    for (const agentId of ['d', 'b', 'a']) await budgets.setDaily(tenantId, `/agents/${agentId}`, 7);
    await budgets.setDaily(tenantId, '/agents/b', null);
    await budgets.setDaily(other, '/agents/e', 7);
    for (const key of ['z', 'y']) await createPlan(tenantId, key);
    await budgets.put(tenantId, '/plans/z', { is_active: false });

    expect(await budgets.listBudgets(tenantId)).toMatchObject({
      dailyBudgetUsdMicros: 0,
      agents: [
        { agentId: 'a', dailyBudgetUsdMicros: 7 },
        { agentId: 'd', dailyBudgetUsdMicros: 7 },
      ],
      plans: [
        { planKey: 'y', dailyBudgetUsdMicros: 5, isActive: true },
        { planKey: 'z', dailyBudgetUsdMicros: 5, isActive: false },
      ],
    });
  });

  it('answers nothing for a workspace without any', async () => {
    const none = await budgets.listBudgets(newTenant());
    expect([none.dailyBudgetUsdMicros, none.agents, none.plans]).toEqual([undefined, [], []]);
  });

  it('answers the first 10,000 agents with the longest ids', async () => {
    const tenantId = newTenant();
    const idOf = (index: number) => `${index}`.padStart(128, '0');
    const stored = Array.from({ length: 10_001 }, (_, index) => ({
      tenantId,
      agentId: idOf(index),
      dailyBudgetMicros: Number.MAX_SAFE_INTEGER,
      updatedAt: new Date(),
    }));
    await budgets.collection('agent_budgets').insertMany(stored);
    const { agents } = await budgets.listBudgets(tenantId);
    expect([agents.length, agents[0]?.agentId, agents.at(-1)?.agentId]).toEqual([10_000, idOf(0), idOf(9999)]);
  });

  it('refuses a tenant of another shape', async () => {
    const details = [{ path: 'tenant_id' }];
    await expect(budgets.listBudgets('$ne')).rejects.toMatchObject({ code: 'invalid_request', details });
  });
});

describe('ListActiveBudgets', () => {
  const made = async (tenantId: TenantId, fields: object) => {
    const body = { name: 'B', selector: {}, period: { kind: 'day' }, limit_micros: 5, ...fields };
    const answer = await budgets.callBudgets('post', tenantId, '', { body });
    expect(answer.status).toBe(201);
    return answer.body as { id: string };
  };
  const only = async (fields: object) => {
    const tenantId = newTenant();
    await made(tenantId, fields);
    const [budget] = await budgets.listActiveBudgets(tenantId);
    return budget;
  };

  it('answers the active budgets of the workspace by id, without its daily ones', async () => {
    const tenantId = newTenant();
    await made(newTenant(), {});
    await budgets.setDaily(tenantId, '/workspace', 7);
    await createPlan(tenantId, 'p');
    const all = [await made(tenantId, {}), await made(tenantId, {}), await made(tenantId, {})];
    await made(tenantId, { is_active: false });
    const ids = (await budgets.listActiveBudgets(tenantId)).map(({ id }) => id);
    expect(ids).toEqual(all.map(({ id }) => id).toSorted());
    expect(await budgets.listActiveBudgets(newTenant())).toEqual([]);
  });

  it('answers all fields of a budget', async () => {
    const tenantId = newTenant();
    const { id: split } = await made(tenantId, { each: 'label:team', is_active: false });
    const selector = { model: 'claude-*', labels: { team: 'growth', 'cost.center': '42' } };
    const period = { kind: 'quarter', start_month: 2, start_day: 6 };
    const more = { each: 'agent', overrides: split, limit_micros: Number.MAX_SAFE_INTEGER, grace_percent: 10 };
    const { id } = await made(tenantId, { name: 'Growth', selector, period, ...more });
    expect(await budgets.listActiveBudgets(tenantId)).toMatchObject([
      {
        ...{ id, generation: 1, name: 'Growth', selector, each: 'agent', overrides: split },
        period: { kind: 'quarter', startMonth: 2, startDay: 6 },
        ...{ limitMicros: Number.MAX_SAFE_INTEGER, denies: true, gracePercent: 10 },
      },
    ]);
  });

  it('distinguishes a budget that all calls share, and one that denies nothing', async () => {
    const budget = await only({ action: 'warn' });
    expect([budget?.each, budget?.overrides, budget?.denies]).toEqual([undefined, undefined, false]);
  });

  it.each([
    ['the default', {}, [50, 80, 100]],
    ['the end of the grace', { grace_percent: 100 }, [50, 80, 100, 200]],
    ['its own', { grace_percent: 5, tell_at: [103, 20] }, [20, 103]],
  ])('tells at which percentages to report: %s', async (_case, fields, expected) => {
    expect((await only(fields))?.tellAt).toEqual(expected);
  });

  it.each([
    [
      { kind: 'once', start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
      { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 11, 1) },
    ],
    [{ kind: 'rolling', seconds: 7200 }, { seconds: 7200 }],
  ])('answers the period %j', async (period, expected) => {
    expect((await only({ period }))?.period).toMatchObject({ kind: period.kind, ...expected });
  });

  it('refuses a tenant of another shape', async () => {
    const details = [{ path: 'tenant_id' }];
    await expect(budgets.listActiveBudgets('$ne')).rejects.toMatchObject({ code: 'invalid_request', details });
  });
});
