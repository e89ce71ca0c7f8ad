import { describe, expect, it } from '@jest/globals';
import { limitsService } from '@tollkeeper/contracts';
import { createGrpcClient } from '@tollkeeper/grpc';
import { CALLER_TOKEN_SECRET, useMongo } from '@tollkeeper/testing';
import { type Body, LIMITS, RESERVATIONS, useEnforcer } from './enforcer.stack.ts';

const SECOND = 1000;
const HOUR = 3_600 * SECOND;
const LIST = `${LIMITS}/reservations`;

const stack = useEnforcer(useMongo());
const { budgets, clock } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

interface Page {
  items: { id: string; request_id: string; state: string; agent_id: string }[];
  next_cursor: string | null;
}

async function page(workspace: Workspace, query: Record<string, string> = {}): Promise<Page> {
  const answer = await workspace.call('get', `${LIST}?${new URLSearchParams(query)}`, { role: 'admin' });
  expect(answer.status).toBe(200);
  return answer.body as Body & Page;
}

/** All pages; `between` runs after each one. */
async function listAll(workspace: Workspace, query: Record<string, string> = {}, between = async () => {}) {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { items, next_cursor } = await page(workspace, { ...query, ...(cursor !== '' && { cursor }) });
    ids.push(...items.map(({ request_id }) => request_id));
    cursor = next_cursor;
    await between();
  }
  return ids;
}

function reserveAll(workspace: Workspace, requestIds: string[], fields: object = {}) {
  return Promise.all(
    requestIds.map((request_id) => workspace.granted({ request_id, amount_micros: 1, ttl_seconds: 3600, ...fields })),
  );
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('the limits', () => {
  it('are those of the workspace, of agents and of plans, with what is spent, held and beyond holds', async () => {
    const workspace = stack.newWorkspace();
    const { tenantId } = workspace;
    expect(await workspace.limits()).toMatchObject({ day: { timezone: 'UTC' }, items: [] });
    budgets.setWorkspace(tenantId, 1000);
    budgets.setAgent(tenantId, 'planner', 500);
    budgets.setAgent(tenantId, 'coder', 500);
    budgets.setPlan(tenantId, 'pro', 300);
    budgets.setPlan(tenantId, 'old', 300, false);
    clock.now += 2 * SECOND;
    const plan_key = 'pro';
    const settled = await workspace.granted({ amount_micros: 100, plan_key });
    await workspace.settle(settled.id, 110);
    await workspace.granted({ amount_micros: 20, plan_key });
    const released = await workspace.granted({ agent_id: 'coder', amount_micros: 30 });
    await workspace.release(released.id);
    await workspace.granted({ agent_id: 'coder', amount_micros: 40, ttl_seconds: 10 });
    clock.now += 10 * SECOND;

    const none = { above_hold: 0, late: 0, unreserved: 0 };
    const row = { spent_micros: 0, held_micros: 0, open_reservations: 0, open_leases: 0, released: 0, expired: 0 };
    const spent = { ...row, spent_micros: 110, held_micros: 20, open_reservations: 1 };
    const today = clock.now - (clock.now % (24 * HOUR));
    const [start, resets_at] = [today, today + 24 * HOUR].map((time) => new Date(time).toISOString());
    const paceOf = (spent: number) => Math.round(spent / ((clock.now - today) / (24 * HOUR)));
    const named = {
      workspace: { budget_id: 'bud_workspace', budget_name: 'Workspace' },
      coder: { budget_id: 'bud_agent.coder', budget_name: 'Agent coder' },
      planner: { budget_id: 'bud_agent.planner', budget_name: 'Agent planner' },
      old: { budget_id: 'bud_plan.old', budget_name: 'Plan old' },
      pro: { budget_id: 'bud_plan.pro', budget_name: 'Plan pro' },
    };
    const all = [
      {
        ...named.workspace,
        scope: 'workspace',
        scope_id: tenantId,
        daily_budget_usd_micros: 1000,
        ...spent,
        released: 1,
        expired: 1,
      },
      {
        ...named.coder,
        scope: 'agent',
        scope_id: 'coder',
        daily_budget_usd_micros: 500,
        ...row,
        released: 1,
        expired: 1,
      },
      { ...named.planner, scope: 'agent', scope_id: 'planner', daily_budget_usd_micros: 500, ...spent },
      { ...named.old, scope: 'plan', scope_id: 'old', daily_budget_usd_micros: 300, ...row },
      { ...named.pro, scope: 'plan', scope_id: 'pro', daily_budget_usd_micros: 300, ...spent },
    ].map((limit) => ({
      ...limit,
      resets_at,
      period: { kind: 'day', start, end: resets_at },
      ...{ state: 'exact', filled_percent: 100 },
      pace_end_micros: paceOf(limit.spent_micros),
      limit_micros: limit.daily_budget_usd_micros,
      remaining_micros: limit.daily_budget_usd_micros - limit.spent_micros - limit.held_micros,
      overspend_micros: limit.spent_micros > 0 ? { ...none, above_hold: 10 } : none,
    }));
    expect((await workspace.limits()).items).toEqual(all);
    expect((await workspace.limits('?agent_id=planner')).items).toEqual([all[0], all[2]]);
    expect((await workspace.limits('?agent_id=coder&plan_key=old')).items).toEqual([all[0], all[1], all[3]]);
    expect((await workspace.limits('?agent_id=nobody')).items).toEqual([all[0]]);
    for (const limit of all) {
      expect((await workspace.limits(`?budget_id=${limit.budget_id}`)).items).toEqual([limit]);
    }
  });

  it.each([
    ['agent_id=a%20b', 'agent_id', 'A-Z a-z 0-9'],
    ['plan_key=Pro', 'plan_key', 'a-z 0-9'],
    ['budget_id=planner', 'budget_id', 'bud_workspace, bud_agent.AGENT_ID, bud_plan.PLAN_KEY, or an id of GET'],
    ['budget_id=bud_workspace&agent_id=a', 'budget_id', 'cannot be combined with agent_id or plan_key'],
    ['budget_id=bud_workspace&plan_key=p', 'budget_id', 'cannot be combined with agent_id or plan_key'],
  ])('are refused for the query %s, which names %s and what is allowed', async (query, path, allowed) => {
    const answer = await stack.newWorkspace().call('get', `${LIMITS}?${query}`, { role: 'member' });
    const details = [{ path, message: expect.stringContaining(allowed) }];
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details } });
  });

  it.each(['bud_workspace', 'bud_agent.planner', 'bud_plan.pro', 'bud_plan.Pro', 'bud_agent.', 'bud_workspace.x'])(
    'are 404 for %s, which is not set or no id',
    async (budgetId) => {
      const answer = await stack.newWorkspace().call('get', `${LIMITS}?budget_id=${budgetId}`, { role: 'member' });
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    },
  );

  it('are as changed as budgets says, at once', async () => {
    const workspace = stack.newWorkspace();
    budgets.setWorkspace(workspace.tenantId, 10);
    await workspace.granted(10);
    budgets.setWorkspace(workspace.tenantId, 5);
    expect(await workspace.limit()).toMatchObject({ daily_budget_usd_micros: 5, held_micros: 10, remaining_micros: 0 });
  });
});
describe('the budgets by risk', () => {
  it('are answered to our services with their spend, what is held and their pace, and at most as many as asked', async () => {
    const workspace = stack.newWorkspace();
    const { tenantId } = workspace;
    budgets.setWorkspace(tenantId, 1000);
    budgets.setAgent(tenantId, 'planner', 150);
    const { id } = await workspace.granted(100);
    await workspace.settle(id, 100);
    await workspace.granted(20);
    const config = { CALLER_TOKEN_SECRET };
    const limits = createGrpcClient(limitsService, stack.grpcAddress(), { config, deadlineMs: 60_000 });
    try {
      const { budgets: found } = await limits.listBudgetsByRisk({ tenantId, max: 10 });
      const spent = { spentMicros: 100, heldMicros: 20 };
      expect(found).toMatchObject([
        { limit: { budgetId: 'bud_agent.planner', ...spent }, paceEndMicros: 200, isAtRisk: true },
        { limit: { budgetId: 'bud_workspace', ...spent }, paceEndMicros: 200, isAtRisk: false },
      ]);
      expect((await limits.listBudgetsByRisk({ tenantId, max: 1 })).budgets).toEqual(found.slice(0, 1));
    } finally {
      await limits.stop();
    }
  });

  it('are refused to gateways, whose keys are for reservations', async () => {
    const workspace = stack.newWorkspace();
    const answer = await workspace.rpc('ListBudgetsByRisk', { tenantId: workspace.tenantId, max: 1 });
    expect(answer).toMatchObject({ status: 'UNAUTHENTICATED' });
  });
});

describe('the list of reservations', () => {
  it.each([
    ['of all states', {}],
    ['that are held', { state: 'held' }],
  ])('%s is newest first, and has each one once though new ones come, page by page', async (_, chosen) => {
    const workspace = stack.newWorkspace();
    const before = names('old', 60);
    for (let i = 0; i < before.length; i += 6) {
      await reserveAll(workspace, before.slice(i, i + 6));
      clock.now += 1;
    }
    let extra = 0;
    const seen = await listAll(workspace, { limit: '7', ...chosen }, async () => {
      await reserveAll(workspace, [`new-${(extra += 1)}`]);
      clock.now += 1;
    });
    // Reservations of a batch are listed in its order, so whole batches are compared.
    expect(seen.toSorted()).toEqual(before.toSorted());
    const batchOf = (id: string) => Math.floor(Number(id.split('-')[1]) / 6);
    expect(seen.map(batchOf)).toEqual(seen.map(batchOf).toSorted((a, b) => b - a));
    expect((await page(workspace)).items[0]).toMatchObject({ request_id: `new-${extra}` });
  });

  it('has those that are chosen by state, agent and run, as they are now', async () => {
    const workspace = stack.newWorkspace();
    const ids = ['settled', 'released', 'expired', 'held'];
    const [settled, released] = await Promise.all([
      workspace.granted({ request_id: 'settled', amount_micros: 1, agent_id: 'coder' }),
      workspace.granted({ request_id: 'released', amount_micros: 1, run_id: 'run-2' }),
      workspace.granted({ request_id: 'expired', amount_micros: 1, ttl_seconds: 10 }),
      workspace.granted({ request_id: 'held', amount_micros: 1, agent_id: 'coder', run_id: 'run-2' }),
    ]);
    await workspace.settle(settled.id, 1);
    await workspace.release(released.id);
    clock.now += 10 * SECOND;
    for (const state of ids) expect(await listAll(workspace, { state })).toEqual([state]);
    const chosen = async (query: Record<string, string>) => (await listAll(workspace, query)).toSorted();
    expect(await chosen({})).toEqual(ids.toSorted());
    expect(await chosen({ agent_id: 'coder' })).toEqual(['held', 'settled']);
    expect(await chosen({ run_id: 'run-2' })).toEqual(['held', 'released']);
    expect(await chosen({ run_id: 'run-2', agent_id: 'coder', limit: '1' })).toEqual(['held']);
    expect(await chosen({ agent_id: 'nobody' })).toEqual([]);
  });

  it('goes back 48 hours', async () => {
    const workspace = stack.newWorkspace();
    await reserveAll(workspace, ['first']);
    clock.now += HOUR;
    await reserveAll(workspace, ['second']);
    clock.now += 47 * HOUR;
    expect(await listAll(workspace)).toEqual(['second', 'first']);
    clock.now += 1;
    expect(await listAll(workspace)).toEqual(['second']);
  });

  it('has nothing of another workspace, whatever the cursor', async () => {
    const workspace = stack.newWorkspace();
    const other = stack.newWorkspace();
    await reserveAll(other, ['theirs']);
    await reserveAll(workspace, names('ours', 3));
    const { next_cursor } = await page(workspace, { limit: '1' });
    expect(next_cursor).not.toBeNull();
    const seen = await page(other, { cursor: next_cursor! });
    expect(seen.items.filter(({ request_id }) => request_id !== 'theirs')).toEqual([]);
    expect(await listAll(other)).toEqual(['theirs']);
  });

  it.each(['x', '1', '1.', '.1', '-1.0', '1.0.0', '9999999999999.0', 'eyJhIjoxfQ', 'x&state=held', 'MXwx&state=held'])(
    'refuses the cursor %s, which is none of its own',
    async (cursor) => {
      const answer = await stack.newWorkspace().call('get', `${LIST}?cursor=${cursor}`, { role: 'admin' });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path: 'cursor' }] } });
    },
  );
});

describe('a hold that hangs', () => {
  it('is released by an owner, and by no lower role', async () => {
    const workspace = stack.newWorkspace();
    budgets.setWorkspace(workspace.tenantId, 100);
    const { id } = await workspace.granted(100);
    const path = `${LIST}/${id}:release`;
    for (const role of ['member', 'admin'] as const) {
      expect((await workspace.call('post', path, { role })).status).toBe(403);
    }
    expect((await workspace.call('get', LIST, { role: 'member' })).status).toBe(403);
    expect((await workspace.call('post', path)).status).toBe(401);
    expect((await stack.newWorkspace().call('post', path, { role: 'owner' })).status).toBe(404);
    expect(await workspace.limit()).toMatchObject({ held_micros: 100 });

    const freed = await workspace.call('post', path, { role: 'owner' });
    expect(freed).toMatchObject({ status: 200, body: { id, state: 'released' } });
    expect((await workspace.reserve(100)).status).toBe(201);
    expect(await workspace.read(id)).toMatchObject({ state: 'released' });
  });

  it('is not shown to, nor touched by, a session on the routes of keys', async () => {
    const workspace = stack.newWorkspace();
    const { id } = await workspace.granted(100);
    const answers = [
      await workspace.call('get', `${RESERVATIONS}/${id}`, { role: 'owner' }),
      await workspace.release(id, { role: 'owner' }),
      await workspace.reserve(1, { role: 'owner' }),
    ];
    for (const { status } of answers) expect(status).toBe(401);
  });
});
