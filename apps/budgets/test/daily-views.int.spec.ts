import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, useBudgets } from './budgets.stack.ts';

const budgets = useBudgets(useMongo());

const PLAN = { plan_key: 'pro', display_name: 'Pro', description: 'D', daily_budget_usd_micros: 3 };
const OWN = { name: 'Own', selector: { agent: 'coder' }, period: { kind: 'day' }, limit_micros: 4 };
const IDS = ['bud_workspace', 'bud_plan.pro', 'bud_agent.coder'];

let tenantId: TenantId;
beforeEach(async () => {
  tenantId = newTenant();
  budgets.identity.register(tenantId, 'coder', 'planner');
  await budgets.setDaily(tenantId, '/workspace', 1);
  await budgets.setDaily(tenantId, '/agents/coder', 2);
  await budgets.call('post', tenantId, '/plans', { body: PLAN });
});

const call = (method: 'get' | 'patch' | 'delete', id: string, body?: object) =>
  budgets.callBudgets(method, tenantId, `/${id}`, { body });
async function page(
  query = '',
): Promise<{ items: { id: string; limit_micros: number }[]; next_cursor: string | null }> {
  return (await budgets.callBudgets('get', tenantId, query)).body;
}
const idsOf = async (query = '') => (await page(query)).items.map(({ id }) => id);
const amounts = async () => [
  (await budgets.call('get', tenantId, '/workspace')).body.daily_budget_usd_micros,
  (await budgets.list(tenantId, '/plans'))[0]?.['daily_budget_usd_micros'],
  (await budgets.list(tenantId, '/agents'))[0]?.['daily_budget_usd_micros'],
];

describe('the list of budgets', () => {
  it('has the daily budgets that are set, as budgets of a day', async () => {
    const now = new Date(budgets.clock.now).toISOString();
    const daily = {
      ...{ description: '', each: null, overrides: null, period: { kind: 'day' }, action: 'deny', grace_percent: 0 },
      ...{ tell_at: null, is_active: true, created_at: null, updated_at: null },
    };
    const expected = [
      { ...daily, id: 'bud_workspace', name: 'Workspace', selector: {}, limit_micros: 1, origin: 'workspace' },
      {
        ...{ ...daily, id: 'bud_plan.pro', name: 'Pro', description: 'D', selector: { plan: 'pro' }, limit_micros: 3 },
        ...{ origin: 'plan', created_at: now, updated_at: now },
      },
      {
        ...{ ...daily, id: 'bud_agent.coder', name: 'CODER', selector: { agent: 'coder' }, limit_micros: 2 },
        ...{ origin: 'agent', updated_at: now },
      },
    ];
    expect((await page()).items).toEqual(expected);
    for (const budget of expected) expect((await call('get', budget.id)).body).toEqual(budget);
  });

  it('pages through all of them once, whatever the size of a page', async () => {
    const agents = Array.from({ length: 5 }, (_, index) => `agent-${index}`);
    budgets.identity.register(tenantId, ...agents);
    for (const agent of agents) await budgets.setDaily(tenantId, `/agents/${agent}`, 5);
    await budgets.call('post', tenantId, '/plans', { body: { ...PLAN, plan_key: 'free' } });
    for (let count = 0; count < 3; count += 1) await budgets.callBudgets('post', tenantId, '', { body: OWN });
    const all = await idsOf();
    expect(all).toHaveLength(12);
    expect(all.slice(0, 3)).toEqual(all.slice(0, 3).toSorted());
    expect(all.slice(3, 6)).toEqual(['bud_workspace', 'bud_plan.free', 'bud_plan.pro']);
    expect(all.slice(6)).toEqual([...agents, 'coder'].map((agent) => `bud_agent.${agent}`));
    for (const limit of [1, 2, 4, 12]) {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { items, next_cursor: next } = await page(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        expect(items.length).toBeLessThanOrEqual(limit);
        found.push(...items.map(({ id }) => id));
        cursor = next;
      }
      expect(found).toEqual(all);
    }
  });

  it('goes on where it was after the last budget of a page is deleted', async () => {
    expect((await page('?limit=2')).next_cursor).toBe('bud_plan.pro');
    await call('delete', 'bud_plan.pro');
    expect(await idsOf('?cursor=bud_plan.pro')).toEqual(['bud_agent.coder']);
  });

  it('has only budgets of the origin, and only active ones or others, if asked', async () => {
    const { body: own } = await budgets.callBudgets('post', tenantId, '', { body: { ...OWN, is_active: false } });
    await budgets.put(tenantId, '/plans/pro', { is_active: false });
    expect(await idsOf('?origin=none')).toEqual([own.id]);
    expect(await idsOf('?origin=workspace')).toEqual(['bud_workspace']);
    expect(await idsOf('?origin=plan')).toEqual(['bud_plan.pro']);
    expect(await idsOf('?origin=agent')).toEqual(['bud_agent.coder']);
    expect(await idsOf('?is_active=true')).toEqual(['bud_workspace', 'bud_agent.coder']);
    expect(await idsOf('?is_active=false')).toEqual([own.id, 'bud_plan.pro']);
    expect(await idsOf('?is_active=false&origin=agent')).toEqual([]);
  });

  it.each([
    ['origin=tenant', 'origin'],
    ['is_active=1', 'is_active'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=rubbish', 'cursor'],
    ['cursor=%24ne', 'cursor'],
  ])('refuses ?%s and names the parameter', async (query, path) => {
    const answer = await budgets.callBudgets('get', tenantId, `?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });

  it('is 503 while identity is down, unless it has no agents', async () => {
    await budgets.identity.stop();
    try {
      expect((await budgets.callBudgets('get', tenantId, '')).status).toBe(503);
      for (const origin of ['none', 'workspace', 'plan']) {
        expect((await budgets.callBudgets('get', tenantId, `?origin=${origin}`)).status).toBe(200);
      }
      expect((await budgets.callBudgets('post', tenantId, '', { body: OWN })).status).toBe(201);
    } finally {
      await budgets.identity.start();
    }
  });
});

describe('a daily budget', () => {
  it('that is set by its own call shows in the list at once', async () => {
    await budgets.setDaily(tenantId, '/workspace', 11);
    await budgets.setDaily(tenantId, '/plans/pro', 13);
    await budgets.setDaily(tenantId, '/agents/coder', 12);
    expect((await page()).items.map(({ limit_micros: limit }) => limit)).toEqual([11, 13, 12]);
  });

  it('that is changed as a budget shows in its own call, with the time', async () => {
    budgets.clock.now += 1000;
    const now = new Date(budgets.clock.now).toISOString();
    for (const [index, id] of IDS.entries()) {
      const changed = await call('patch', id, { limit_micros: 20 + index });
      expect(changed).toMatchObject({ status: 200, body: { id, limit_micros: 20 + index } });
      expect((await call('get', id)).body).toEqual(changed.body);
    }
    expect(await amounts()).toEqual([20, 21, 22]);
    expect(await budgets.list(tenantId, '/agents')).toMatchObject([{ updated_at: now }, { updated_at: null }]);
    expect(await budgets.list(tenantId, '/plans')).toMatchObject([{ updated_at: now }]);
  });

  it('that is unset by its own call is 404 and not in the list', async () => {
    await budgets.setDaily(tenantId, '/workspace', null);
    await budgets.setDaily(tenantId, '/agents/coder', null);
    await budgets.call('delete', tenantId, '/plans/pro');
    expect(await idsOf()).toEqual([]);
    for (const id of IDS) {
      for (const answer of [
        await call('get', id),
        await call('patch', id, { limit_micros: 1 }),
        await call('delete', id),
      ]) {
        expect(answer.status).toBe(404);
      }
    }
    expect(await amounts()).toEqual([null, undefined, null]);
  });

  it('is unset by a deletion as a budget, and a plan is deleted', async () => {
    for (const id of IDS) expect((await call('delete', id)).status).toBe(204);
    expect(await amounts()).toEqual([null, undefined, null]);
    expect(await idsOf()).toEqual([]);
    expect(await budgets.listBudgets(tenantId)).toMatchObject({ agents: [], plans: [] });
  });

  it('of a plan also changes its name, its description and whether it is active', async () => {
    const changes = { name: 'Max', description: 'Other', is_active: false };
    expect(await call('patch', 'bud_plan.pro', changes)).toMatchObject({ status: 200, body: changes });
    const plan = { display_name: 'Max', description: 'Other', is_active: false, daily_budget_usd_micros: 3 };
    expect(await budgets.list(tenantId, '/plans')).toMatchObject([plan]);
    expect(await call('patch', 'bud_plan.pro', { description: null })).toMatchObject({ body: { description: '' } });
  });

  it('of a plan loses none of several changes of different fields by both calls at once', async () => {
    await Promise.all([
      call('patch', 'bud_plan.pro', { name: 'Max' }),
      call('patch', 'bud_plan.pro', { limit_micros: 9 }),
      budgets.put(tenantId, '/plans/pro', { description: 'Other' }),
      budgets.put(tenantId, '/plans/pro', { is_active: false }),
    ]);
    expect(await budgets.list(tenantId, '/plans')).toMatchObject([
      { display_name: 'Max', description: 'Other', is_active: false, daily_budget_usd_micros: 9 },
    ]);
  });

  it.each([
    ...IDS.flatMap((id) =>
      Object.entries({
        selector: { model: 'm' },
        each: 'model',
        period: { kind: 'week' },
        action: 'warn',
        grace_percent: 5,
        tell_at: [90],
      }).map(([field, value]) => [id, field, value] as const),
    ),
    ['bud_workspace', 'name', 'W'],
    ['bud_workspace', 'is_active', false],
    ['bud_agent.coder', 'description', 'C'],
  ] as const)('%s does not change %s: 409 names it and what to do', async (id, field, value) => {
    const before = await page();
    const refused = await call('patch', id, { limit_micros: 9, [field]: value });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', details: [{ path: field }] } });
    expect(refused.body.error).toContain('POST /api/v1/budgets');
    expect(await page()).toEqual(before);
  });

  it.each([{ limit_micros: null }, { limit_micros: -1 }, { limit_micros: '5' }])('refuses %j', async (body) => {
    for (const id of IDS) {
      const refused = await call('patch', id, body);
      expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'limit_micros' }] } });
    }
    expect(await amounts()).toEqual([1, 3, 2]);
  });

  it('takes the value that a field has', async () => {
    for (const id of IDS) {
      const { body } = await call('get', id);
      const readOnly = ['id', 'origin', 'created_at', 'updated_at'];
      const fields = Object.fromEntries(Object.entries(body).filter(([field]) => !readOnly.includes(field)));
      expect((await call('patch', id, { ...fields, limit_micros: 9 })).status).toBe(200);
    }
    expect(await amounts()).toEqual([9, 9, 9]);
  });

  it('of an agent may have the longest id', async () => {
    const agentId = 'a'.repeat(128);
    budgets.identity.register(tenantId, agentId);
    await budgets.setDaily(tenantId, `/agents/${agentId}`, 5);
    expect((await call('patch', `bud_agent.${agentId}`, { limit_micros: 6 })).status).toBe(200);
    expect(await idsOf('?origin=agent&limit=1')).toEqual([`bud_agent.${agentId}`]);
  });

  it('is of its workspace alone', async () => {
    const other = newTenant();
    for (const id of IDS) {
      for (const [method, body] of [['get'], ['patch', { limit_micros: 9 }], ['delete']] as const) {
        expect((await budgets.callBudgets(method, other, `/${id}`, { body })).status).toBe(404);
      }
    }
    expect((await budgets.callBudgets('get', other, '')).body).toEqual({ items: [], next_cursor: null });
    expect(await amounts()).toEqual([1, 3, 2]);
    expect(await budgets.listBudgets(other)).toMatchObject({ agents: [], plans: [] });
  });
});
