import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { Body } from './enforcer.stack.ts';
import { cost, COUNTS_MS, denialOf, HOUR_MS, useLeases } from './leases.stack.ts';

const stack = useLeases(useMongo(), { replicas: 2 });
const { budgets, clock } = stack;
const EACH = {
  id: 'bud_users',
  name: 'Per user',
  each: 'label:user',
  limitMicros: 10,
  period: { kind: 'month', startMonth: 1, startDay: 1 },
};
const ASKED = '/api/v1/raise-requests';

type Workspace = ReturnType<typeof stack.newWorkspace>;
interface Given {
  budgetId?: string;
  value?: string;
  extraMicros?: number;
  until?: number;
}

/** Grants these raises, ends all others, and lets the time pass after which every replica asks budgets again. */
function raise({ tenantId }: Workspace, ...all: Given[]): void {
  const common = { budgetId: 'bud_workspace', extraMicros: 10, until: clock.now + HOUR_MS };
  budgets.setRaises(tenantId, ...all.map((given) => ({ ...common, ...given })));
  clock.now += COUNTS_MS;
}

/** Both replicas decide so. A question to budgets that takes too long is asked again. */
async function decides(workspace: Workspace, decision: string, asked: Body): Promise<void> {
  for (const replica of [0, 1]) {
    await eventually(async () => {
      expect(await workspace.decision({ ...asked, dry_run: true }, replica)).toBe(decision);
    });
  }
}
/** A workspace that has spent all of its 15. */
async function spentWorkspace(): Promise<Workspace> {
  const workspace = stack.newWorkspace(15);
  const { id } = await workspace.granted(15);
  await workspace.settle(id, 15);
  return workspace;
}

describe('a raise', () => {
  it('lets calls pass at every replica within two seconds, to the micro, and shows beside the limit', async () => {
    const workspace = await spentWorkspace();
    await decides(workspace, 'denied', {});
    const until = clock.now + HOUR_MS;
    raise(workspace, { until }, { extraMicros: 5, until: until - 1_000 });
    const raised = { limit_micros: 15, raised_micros: 15, raised_until: new Date(until - 1_000).toISOString() };
    await decides(workspace, 'allowed', { amount_micros: 15 });
    for (const replica of [0, 1]) {
      const { body } = await workspace.reserve({ amount_micros: 16, dry_run: true }, { replica });
      expect(body).toMatchObject({ decision: 'denied', denial: raised, limits: [{ ...raised, remaining_micros: 15 }] });
    }
    await workspace.granted(15);
    expect(await workspace.decision()).toBe('denied');
    expect(await workspace.limit()).toMatchObject({
      ...raised,
      spent_micros: 15,
      held_micros: 15,
      remaining_micros: 0,
    });
    for (const query of ['?budget_id=bud_workspace', '?plan_key=none', '?agent_id=planner']) {
      expect((await workspace.limits(query)).items[0]).toMatchObject(raised);
    }
  });

  it('ends at its time, to the millisecond, and until then it outlasts a failure of budgets', async () => {
    const workspace = await spentWorkspace();
    const until = clock.now + HOUR_MS;
    raise(workspace, { until });
    await decides(workspace, 'allowed', {});
    await workspace.granted({ amount_micros: 1, ttl_seconds: 3_600 });
    budgets.state.down = true;
    try {
      clock.now = until - 1;
      expect(await workspace.decision({ dry_run: true })).toBe('allowed');
      clock.now = until;
      const denied = denialOf(await workspace.reserve(1));
      expect(denied).toMatchObject({ code: 'budget_exceeded', limit_micros: 15, spent_micros: 15, held_micros: 1 });
      expect(denied).not.toHaveProperty('raised_micros');
    } finally {
      budgets.state.down = false;
    }
  });

  it('that an owner ends counts no longer within two seconds, and what it let pass is not taken back', async () => {
    const workspace = await spentWorkspace();
    raise(workspace, {});
    await decides(workspace, 'allowed', {});
    const { id } = await workspace.granted({ amount_micros: 9, ttl_seconds: 3_600 });
    await decides(workspace, 'allowed', {});
    raise(workspace);
    await decides(workspace, 'denied', {});
    expect((await workspace.settle(id, 9)).body).toMatchObject({ state: 'settled', settled_micros: 9 });
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 24, remaining_micros: 0, overspend_micros: { above_hold: 0, late: 0, unreserved: 0 } },
    });
  });

  it.each([
    ['an agent', 'bud_agent.planner', { agent_id: 'planner' }, { agent_id: 'coder' }],
    ['a plan', 'bud_plan.pro', { plan_key: 'pro' }, { plan_key: 'basic' }],
    ['a value', 'bud_users', { labels: { user: 'zoe' } }, { labels: { user: 'max' } }],
  ])('of the budget of %s is for that alone', async (_what, budgetId, asked, others) => {
    const workspace = stack.newWorkspace();
    const { tenantId } = workspace;
    for (const agent of ['planner', 'coder']) budgets.setAgent(tenantId, agent, 10);
    for (const plan of ['pro', 'basic']) budgets.setPlan(tenantId, plan, 10);
    budgets.setBudgets(tenantId, EACH);
    raise(workspace, { budgetId, extraMicros: 5, ...(budgetId === EACH.id && { value: 'zoe' }) });
    // Each limit that a call counts in has room for 10, so one of 15 needs the raise in all that apply.
    const ofOther = (call: Body) => ({ agent_id: 'other', ...call });
    await decides(workspace, 'allowed', { ...ofOther(asked), amount_micros: 15 });
    await decides(workspace, 'denied', { ...ofOther(asked), amount_micros: 16 });
    await decides(workspace, 'denied', { ...ofOther(others), amount_micros: 11 });
  });

  it('raises a limit of 0, and one with grace by the granted amount alone', async () => {
    const workspace = stack.newWorkspace(0);
    await decides(workspace, 'denied', { amount_micros: 0 });
    raise(workspace, {});
    await decides(workspace, 'allowed', { amount_micros: 10 });
    const graced = stack.newWorkspace();
    const budget = {
      id: 'bud_grace',
      limitMicros: 100,
      gracePercent: 20,
      period: { kind: 'day', startMonth: 1, startDay: 1 },
    };
    budgets.setBudgets(graced.tenantId, budget);
    raise(graced, { budgetId: 'bud_grace' });
    await decides(graced, 'denied', { amount_micros: 131 });
    await decides(graced, 'allowed', { amount_micros: 130 });
  });

  it('is what a lease is granted from; the lease stays open when it ends, and is not made larger', async () => {
    const workspace = await spentWorkspace();
    raise(workspace, {});
    await decides(workspace, 'allowed', { amount_micros: 10 });
    const { id } = await workspace.leased(5);
    raise(workspace);
    await decides(workspace, 'denied', {});
    expect((await workspace.renew(id, 10)).body).toMatchObject({ state: 'open', amount_micros: 5 });
    expect((await workspace.settleFrom(id, [cost(5)])).body).toMatchObject({
      ...{ lease: { state: 'open', left_micros: 0 }, results: [{ outcome: 'settled' }] },
    });
    expect(denialOf(await workspace.lease({ amount_micros: 1 }))).toMatchObject({ code: 'budget_exceeded' });
  });
});

describe('a denied caller', () => {
  it('reads how to ask for more, with the budget and the value', async () => {
    const workspace = stack.newWorkspace(0);
    expect(denialOf(await workspace.reserve(1))).toMatchObject({
      message: expect.stringContaining('(POST /api/v1/raise-requests with budget_id bud_workspace)'),
    });
    budgets.setWorkspace(workspace.tenantId, null);
    budgets.setBudgets(workspace.tenantId, EACH);
    clock.now += COUNTS_MS;
    const asked = { amount_micros: 11, labels: { user: 'zoe' } };
    await decides(workspace, 'denied', asked);
    expect(denialOf(await workspace.reserve(asked))).toMatchObject({
      message: expect.stringContaining('with budget_id bud_users and value zoe)'),
    });
  });

  it('asks with its key for the workspace of the key, whatever it says', async () => {
    const workspace = stack.newWorkspace();
    const until = new Date(clock.now + HOUR_MS).toISOString();
    const body = { request_id: 'r-1', budget_id: 'bud_workspace', extra_micros: 10, until, reason: 'Launch' };
    const answer = await workspace.call('post', ASKED, { body });
    expect([answer.status, answer.body]).toEqual([201, { id: 'rai_1', state: 'requested', extra_micros: 10, until }]);
    expect(budgets.raisesAsked.at(-1)).toEqual({
      ...{ tenantId: provenTenantId(workspace.tenantId), keyId: workspace.keyId, requestId: 'r-1' },
    });
    for (const wrong of [{ request_id: undefined }, { extra_micros: 0 }, { tenant_id: 'ws_1' }]) {
      expect((await workspace.call('post', ASKED, { body: { ...body, ...wrong } })).status).toBe(400);
    }
  });

  it('in a loop is stopped before budgets is asked, and keeps no other key from asking', async () => {
    const [workspace, other] = [stack.newWorkspace(), stack.newWorkspace()];
    const until = new Date(clock.now + HOUR_MS).toISOString();
    const body = { request_id: 'r-1', budget_id: 'bud_workspace', extra_micros: 10, until, reason: 'Launch' };
    const loop = await Promise.all(Array.from({ length: 40 }, () => workspace.call('post', ASKED, { body })));
    const asked = budgets.raisesAsked.filter(({ keyId }) => keyId === workspace.keyId);
    expect(loop.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect(asked.length).toBeLessThan(20);
    expect((await other.call('post', ASKED, { body })).status).toBe(201);
  });
});
