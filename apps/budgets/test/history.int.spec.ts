import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { createHistoryStore } from '../src/store/history.store.ts';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);

const BUDGET = { name: 'Week', selector: {}, period: { kind: 'week' }, limit_micros: 5 };
const PLAN = { plan_key: 'pro', display_name: 'Pro', daily_budget_usd_micros: 5 };

interface Item {
  scope: string;
  scope_id: string;
  previous_daily_budget_usd_micros: number | null;
  daily_budget_usd_micros: number | null;
}
const historyOf = async (tenantId: TenantId, query = '') =>
  (await budgets.call('get', tenantId, `/history${query}`)).body as { items: Item[]; next_cursor: string | null };
const changesOf = async (tenantId: TenantId, query = '') =>
  (await historyOf(tenantId, query)).items.map((item) => [
    ...[item.scope, item.scope_id],
    ...[item.previous_daily_budget_usd_micros, item.daily_budget_usd_micros],
  ]);
const createPlan = (tenantId: TenantId) => budgets.call('post', tenantId, '/plans', { body: PLAN });

/** Makes a change of each kind of budget, one per second. */
async function changed(): Promise<TenantId> {
  const tenantId = newTenant();
  budgets.identity.register(tenantId, 'coder', 'planner');
  const steps = [
    () => budgets.setDaily(tenantId, '/workspace', 100),
    () => budgets.setDaily(tenantId, '/agents/planner', 0),
    () => budgets.setDaily(tenantId, '/agents/coder', 7),
    () => createPlan(tenantId),
    () => budgets.setDaily(tenantId, '/plans/pro', 6),
    () => budgets.setDaily(tenantId, '/agents/planner', null),
    () => budgets.call('delete', tenantId, '/plans/pro'),
  ];
  for (const step of steps) {
    budgets.clock.now += 1000;
    expect((await step()).status).toBeLessThan(300);
  }
  return tenantId;
}

describe('the history of budgets', () => {
  it('says who changed a budget from what to what, and when, newest first', async () => {
    const tenantId = newTenant();
    const at = budgets.clock.now;
    for (const [index, micros] of [25, 0, null].entries()) {
      budgets.clock.now = at + index * 1000;
      const body = { daily_budget_usd_micros: micros };
      await budgets.call('put', tenantId, '/workspace', { body, userId: `user_${index}` });
    }
    const change = (index: number, previous: number | null, micros: number | null) => ({
      ...{ scope: 'workspace', scope_id: tenantId },
      ...{ previous_daily_budget_usd_micros: previous, daily_budget_usd_micros: micros },
      ...{ changed_by: `user_${index}`, changed_at: new Date(at + index * 1000).toISOString() },
    });
    expect(await historyOf(tenantId)).toEqual({
      items: [change(2, 0, null), change(1, 25, 0), change(0, null, 25)],
      next_cursor: null,
    });
  });

  it('has the changes of the workspace, of agents and of plans, with their creation and end', async () => {
    const tenantId = await changed();
    expect(await changesOf(tenantId)).toEqual([
      ['plan', 'pro', 6, null],
      ['agent', 'planner', 0, null],
      ['plan', 'pro', 5, 6],
      ['plan', 'pro', null, 5],
      ['agent', 'coder', null, 7],
      ['agent', 'planner', null, 0],
      ['workspace', tenantId, null, 100],
    ]);
  });

  it.each([
    ['scope=workspace', ['workspace']],
    ['scope=agent', ['planner', 'coder', 'planner']],
    ['scope=agent&scope_id=planner', ['planner', 'planner']],
    ['scope=plan&scope_id=pro', ['pro', 'pro', 'pro']],
    ['scope=plan&scope_id=planner', []],
  ])('by %s has these alone', async (query, ids) => {
    const tenantId = await changed();
    const found = await changesOf(tenantId, `?${query}`);
    expect(found.map(([scope, id]) => (scope === 'workspace' && id === tenantId ? scope : id))).toEqual(ids);
  });

  it('has no entry for a call that changes no amount', async () => {
    const tenantId = await changed();
    await createPlan(tenantId);
    const before = await historyOf(tenantId);
    for (const [call, status] of [
      [() => budgets.setDaily(tenantId, '/workspace', 100), 200],
      [() => budgets.setDaily(tenantId, '/workspace', -1), 400],
      [() => budgets.setDaily(tenantId, '/agents/planner', null), 200],
      [() => budgets.setDaily(tenantId, '/agents/coder', 7), 200],
      [() => budgets.setDaily(tenantId, '/agents/nobody', 7), 404],
      [() => createPlan(tenantId), 409],
      [() => budgets.setDaily(tenantId, '/plans/pro', 5), 200],
      [() => budgets.put(tenantId, '/plans/pro', { is_active: false, display_name: 'Professional' }), 200],
      [() => budgets.setDaily(tenantId, '/plans/other', 5), 404],
      [() => budgets.call('delete', tenantId, '/plans/other'), 404],
    ] as const) {
      expect((await call()).status).toBe(status);
    }
    expect(await historyOf(tenantId)).toEqual(before);
  });

  it('has nothing of another workspace, whose ids it may have, nor with a cursor of it', async () => {
    const [tenantId, other] = [await changed(), await changed()];
    expect(await changesOf(newTenant())).toEqual([]);
    expect(await changesOf(tenantId, `?scope=workspace&scope_id=${other}`)).toEqual([]);
    const { next_cursor: foreign } = await historyOf(other, '?limit=1');
    // All changes of this workspace are older.
    expect(await changesOf(tenantId, `?cursor=${foreign}`)).toEqual(await changesOf(tenantId));
    const { next_cursor: own } = await historyOf(tenantId, '?limit=1');
    expect(await changesOf(other, `?cursor=${own}`)).toEqual([]);
  });

  it('has every change on one page, also of those that are made in one millisecond', async () => {
    const tenantId = newTenant();
    for (const micros of [1, 2, 3, 4, 5]) await budgets.setDaily(tenantId, '/workspace', micros);
    budgets.clock.now += 1000;
    await budgets.setDaily(tenantId, '/workspace', 6);
    const pages: (number | null)[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await historyOf(tenantId, `?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(page.items.map((item) => item.daily_budget_usd_micros));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual([
      [6, 5],
      [4, 3],
      [2, 1],
    ]);
  });

  it.each(['/workspace', '/agents/planner', '/plans/pro'])(
    'tells of changes of %s at once in the order in which they took effect',
    async (below) => {
      const tenantId = newTenant();
      budgets.identity.register(tenantId, 'planner');
      await createPlan(tenantId);
      const first = below === '/plans/pro' ? 5 : null;
      const answers = await Promise.all([11, 12, 13, 14, 15].map((n) => budgets.setDaily(tenantId, below, n)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const scope = below.split('/')[1]!.replace(/s$/, '');
      const { items } = await historyOf(tenantId, `?scope=${scope}`);
      const oldestFirst = items.slice(0, 5).toReversed();
      const amounts = oldestFirst.map((item) => item.daily_budget_usd_micros);
      expect(oldestFirst.map((item) => item.previous_daily_budget_usd_micros)).toEqual([first, ...amounts.slice(0, 4)]);
      expect(amounts.toSorted()).toEqual([11, 12, 13, 14, 15]);
      const { dailyBudgetUsdMicros, agents, plans } = await budgets.getBudgets(tenantId, ['planner'], ['pro']);
      const now = {
        workspace: dailyBudgetUsdMicros,
        agent: agents[0]?.dailyBudgetUsdMicros,
        plan: plans[0]?.dailyBudgetUsdMicros,
      };
      expect(Number(now[scope as keyof typeof now])).toBe(amounts.at(-1));
    },
  );

  it('has the changes of the limits of budgets, with their creation and end', async () => {
    const tenantId = newTenant();
    const { id } = (await budgets.callBudgets('post', tenantId, '', { body: BUDGET })).body as { id: string };
    for (const body of [{ limit_micros: 6 }, { limit_micros: 6 }, { name: 'Other' }, { limit_micros: -1 }]) {
      await budgets.callBudgets('patch', tenantId, `/${id}`, { body });
    }
    await budgets.callBudgets('delete', tenantId, `/${id}`);
    const expected = [
      ['budget', id, 6, null],
      ['budget', id, 5, 6],
      ['budget', id, null, 5],
    ];
    for (const query of ['', '?scope=budget', `?scope=budget&scope_id=${id}`]) {
      expect(await changesOf(tenantId, query)).toEqual(expected);
    }
    expect(await changesOf(tenantId, '?scope=budget&scope_id=bud_other')).toEqual([]);
  });

  it('has changes of daily budgets by either call', async () => {
    const tenantId = await changed();
    const before = await changesOf(tenantId);
    await createPlan(tenantId);
    for (const id of ['bud_workspace', 'bud_agent.coder', 'bud_plan.pro']) {
      expect((await budgets.callBudgets('patch', tenantId, `/${id}`, { body: { limit_micros: 9 } })).status).toBe(200);
      expect((await budgets.callBudgets('delete', tenantId, `/${id}`)).status).toBe(204);
    }
    expect(await changesOf(tenantId)).toEqual([
      ['plan', 'pro', 9, null],
      ['plan', 'pro', 5, 9],
      ['agent', 'coder', 9, null],
      ['agent', 'coder', 7, 9],
      ['workspace', tenantId, 9, null],
      ['workspace', tenantId, 100, 9],
      ['plan', 'pro', null, 5],
      ...before,
    ]);
  });

  it('is written with the change or not at all', async () => {
    const tenantId = await changed();
    await createPlan(tenantId);
    const { id } = (await budgets.callBudgets('post', tenantId, '', { body: BUDGET })).body as { id: string };
    const state = async () => [
      await budgets.list(tenantId, '/agents'),
      await budgets.list(tenantId, '/plans'),
      (await budgets.callBudgets('get', tenantId, '')).body,
    ];
    const before = await state();
    const database = budgets.collection('budget_changes').conn.db!;
    const accept = (validator: object) => database.command({ collMod: 'budget_changes', validator });
    await accept({ tenantId: { $ne: tenantId } });
    try {
      for (const answer of [
        await budgets.setDaily(tenantId, '/workspace', 1),
        await budgets.setDaily(tenantId, '/agents/coder', 1),
        await budgets.setDaily(tenantId, '/plans/pro', 1),
        await budgets.call('post', tenantId, '/plans', { body: { ...PLAN, plan_key: 'free' } }),
        await budgets.call('delete', tenantId, '/plans/pro'),
        await budgets.callBudgets('post', tenantId, '', { body: BUDGET }),
        await budgets.callBudgets('patch', tenantId, `/${id}`, { body: { limit_micros: 1 } }),
        await budgets.callBudgets('delete', tenantId, `/${id}`),
        await budgets.callBudgets('delete', tenantId, '/bud_workspace'),
      ]) {
        expect(answer.status).toBe(500);
      }
    } finally {
      await accept({});
    }
    expect((await budgets.call('get', tenantId, '/workspace')).body.daily_budget_usd_micros).toBe(100);
    expect(await state()).toEqual(before);
  });

  it('keeps nothing of a transaction that does not commit', async () => {
    const history = createHistoryStore(mongo.connection, Date.now);
    await ensureIndexes(Object.values(mongo.connection.models));
    const tenantId = newTenant();
    const change = { scope: 'plan', scopeId: 'pro', previousMicros: 1, dailyBudgetMicros: 2, changedBy: 'u' } as const;
    const failed = withTransaction(mongo.connection, async (session) => {
      await history.record(session, tenantId, change);
      throw new Error('stopped before the commit');
    });
    await expect(failed).rejects.toThrow('stopped before the commit');
    const page = { limit: 1, after: undefined };
    expect(await history.list(tenantId, {}, page)).toEqual({ changes: [], next: null });
    await withTransaction(mongo.connection, (session) => history.record(session, tenantId, change));
    expect((await history.list(tenantId, {}, page)).changes).toMatchObject([change]);
  });

  it('goes back 400 days', async () => {
    const indexes = await budgets.collection('budget_changes').indexes();
    expect(indexes).toContainEqual(
      expect.objectContaining({ key: { changedAt: 1 }, expireAfterSeconds: 400 * 86_400 }),
    );
  });

  it.each([
    ['scope=run', 'scope'],
    ['scope_id=planner', 'scope'],
    ['scope=agent&scope_id=%24ne', 'scope_id'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=MTIzfHg', 'cursor'],
    [`cursor=${Buffer.from(`999999999999999|${'0'.repeat(23)}`).toString('base64url')}`, 'cursor'],
  ])('refuses ?%s and names the parameter', async (query, path) => {
    const answer = await budgets.call('get', newTenant(), `/history?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });
});
