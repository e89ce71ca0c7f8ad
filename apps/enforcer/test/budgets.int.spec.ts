import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { StandInBudget } from './budgets.stand-in.ts';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const stack = useEnforcer(useMongo(), { replicas: 2 });
const { budgets, clock } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

const MONTH = { kind: 'month', startDay: 1 };
const MONTHLY = { id: 'bud_month', name: 'Growth', period: MONTH, limitMicros: 100 };
const FRESH_MS = 2_000;

function limitedBy(...all: StandInBudget[]): Workspace {
  const workspace = stack.newWorkspace();
  budgets.setBudgets(workspace.tenantId, ...all);
  return workspace;
}

/** Changes the budgets, and waits until no replica knows the old ones. */
function change({ tenantId }: Workspace, ...all: StandInBudget[]): void {
  budgets.setBudgets(tenantId, ...all);
  clock.now += FRESH_MS;
}

const growth = { labels: { team: 'growth' } };
const limitsOf = async (workspace: Workspace, query = '') => (await workspace.limits(query)).items;

describe('a budget with a selector', () => {
  it('counts a model at every replica under one name, also if that is half of a surrogate pair', async () => {
    const workspace = limitedBy({ ...MONTHLY, each: 'model', limitMicros: 10 });
    const asked = { amount_micros: 6, model: '\ud800' };
    await workspace.granted(asked);
    expect(await workspace.reserve(asked, { replica: 1 })).toMatchObject({ body: { decision: 'denied' } });
  });

  it('counts the calls that it selects, and denies by its name, its period and its value', async () => {
    const each = { ...MONTHLY, selector: growth, each: 'label:user' };
    const workspace = limitedBy(each);
    const labels = { team: 'growth', user: 'Zoë' };
    const { id } = await workspace.granted({ amount_micros: 80, labels });
    await workspace.settle(id, 70);
    // Another user, another team, and a call without a user have no part in it.
    await workspace.granted({ amount_micros: 90, labels: { ...labels, user: 'Ann' } });
    await workspace.granted({ amount_micros: 500, labels: { ...labels, team: 'sales' } });
    await workspace.granted({ amount_micros: 500, labels: { team: 'growth' } });

    const { status, body } = await workspace.reserve({ amount_micros: 31, labels });
    const month = new Date(clock.now).toISOString().slice(0, 7);
    expect([status, body['decision']]).toEqual([200, 'denied']);
    expect(body['denial']).toMatchObject({
      ...{ scope: 'budget', scope_id: 'bud_month', budget_id: 'bud_month', budget_name: 'Growth', value: 'Zoë' },
      ...{ limit_micros: 100, daily_budget_usd_micros: 100, spent_micros: 70, held_micros: 0, requested_micros: 31 },
      period: { kind: 'month', start: `${month}-01T00:00:00.000Z` },
      message: expect.stringMatching(
        /^Budget "Growth" for Zoë has spent \$0\.00007 .* of its monthly budget of \$0\.0001/,
      ),
    });
    const period = (body['denial'] as { period: Body }).period;
    expect(body['denial']).toMatchObject({ resets_at: period['end'] });
    expect(workspace.events('budget.blocked')[0]).toMatchObject({
      data: { scope: 'budget', budget_id: 'bud_month', budget_name: 'Growth', value: 'Zoë', limit_micros: 100, period },
    });
    const request = { requestId: 'r', agentId: 'planner', runId: 'run', amountMicros: 31, labels };
    expect(await workspace.rpc('Reserve', request, 1)).toMatchObject({
      denied: { scope: 'LIMIT_SCOPE_BUDGET', budgetId: 'bud_month', value: 'Zoë', limitMicros: 100 },
    });
  });

  it('holds with every other budget: the tightest one denies, and all of them are named', async () => {
    const workspace = limitedBy(
      { ...MONTHLY, limitMicros: 1_000 },
      { ...MONTHLY, id: 'bud_models', selector: { model: 'large-*' }, limitMicros: 50 },
      { id: 'bud_hour', period: { kind: 'hour' }, limitMicros: 60 },
    );
    budgets.setWorkspace(workspace.tenantId, 500);
    const asked = { amount_micros: 40, model: 'large-1' };
    await workspace.granted(asked);
    const { body } = await workspace.reserve(asked);
    expect(body).toMatchObject({ decision: 'denied', denial: { budget_id: 'bud_models' } });
    const named = (body['limits'] as Body[]).map((row) => [row['budget_id'], row['remaining_micros']]);
    expect(named).toEqual([
      ['bud_workspace', 460],
      ['bud_month', 960],
      ['bud_models', 10],
      ['bud_hour', 20],
    ]);
    await workspace.granted({ amount_micros: 20, model: 'small' });
  });

  it('that warns only tells, and one with a grace lets that much pass; both tell at their own percentages', async () => {
    const workspace = limitedBy(
      { ...MONTHLY, id: 'bud_warn', denies: false, limitMicros: 10, tellAt: [100] },
      { ...MONTHLY, id: 'bud_grace', limitMicros: 100, gracePercent: 50, tellAt: [90, 150] },
    );
    const { id } = await workspace.granted(150);
    expect((await workspace.reserve(1)).body).toMatchObject({ denial: { budget_id: 'bud_grace' } });
    await workspace.settle(id, 95);
    await workspace.spend({ amount_micros: 55 });
    await stack.posted();
    const told = async () => {
      const events = new Map(workspace.events('budget.threshold_reached').map((event) => [event.id, event.data]));
      return [...events.values()]
        .map((data) => data as Body)
        .map((data) => `${data['budget_id']} ${data['reached_percent'] ?? data['percent']}`);
    };
    await eventually(async () => {
      clock.now += FRESH_MS;
      expect((await told()).sort()).toEqual(['bud_grace 150', 'bud_grace 90', 'bud_warn 100']);
    });
    const [first] = workspace.events('budget.threshold_reached');
    expect(first!.data).toMatchObject({ scope: 'budget', period: { kind: 'month' }, limit_micros: expect.any(Number) });
  });

  it('counts spend that comes without a reservation by what its event says of the call', async () => {
    const workspace = limitedBy({ ...MONTHLY, selector: { ...growth, model: 'large-*', provider: 'acme' } });
    const call = { labels: { team: 'growth' }, model: 'large-2', provider: 'acme' };
    await workspace.spend({ amount_micros: 60, ...call });
    await workspace.spend({ amount_micros: 1_000, ...call, model: 'small' });
    await workspace.spend({ amount_micros: 1_000, ...call, labels: {} });
    await stack.posted();
    expect(await limitsOf(workspace)).toMatchObject([{ spent_micros: 60, overspend_micros: { unreserved: 60 } }]);
    expect((await workspace.reserve({ amount_micros: 41, ...call })).body).toMatchObject({ decision: 'denied' });
    await workspace.granted({ amount_micros: 40, ...call });
  });

  it('gives way to the budget that overrides it, for the value that this one names', async () => {
    const each = { ...MONTHLY, id: 'bud_each', each: 'label:user', limitMicros: 10 };
    const selector = { labels: { user: 'Zoë' } };
    const workspace = limitedBy(each, { ...MONTHLY, id: 'bud_zoe', selector, overrides: 'bud_each', limitMicros: 90 });
    await workspace.granted({ amount_micros: 90, labels: { user: 'Zoë' } });
    expect((await workspace.reserve({ amount_micros: 11, labels: { user: 'Ann' } })).body).toMatchObject({
      denial: { budget_id: 'bud_each', value: 'Ann' },
    });
  });

  it('counts within 2 s when it is made, raised, or deleted, and anew when its generation changes', async () => {
    const workspace = stack.newWorkspace();
    await workspace.granted(40);
    change(workspace, MONTHLY);
    // What is open when it is made counts.
    await workspace.granted(60);
    expect((await workspace.reserve(1)).body).toMatchObject({ decision: 'denied' });
    change(workspace, { ...MONTHLY, limitMicros: 101 });
    await workspace.granted(1);
    change(workspace, { ...MONTHLY, generation: 2, selector: { agent: 'other' } });
    await workspace.granted(500);
    await workspace.granted({ amount_micros: 100, agent_id: 'other' });
    change(workspace);
    await workspace.granted(10_000);
    expect(await limitsOf(workspace)).toEqual([]);
  });

  it('stays in force while budgets is down, also on a replica that starts from its snapshot and journal', async () => {
    const workspace = limitedBy(MONTHLY, {
      id: 'bud_roll',
      period: { kind: 'rolling', seconds: 3_600 },
      limitMicros: 90,
    });
    const { id } = await workspace.granted(80);
    await stack.restart(0);
    await stack.restart(1);
    for (const replica of [0, 1]) {
      const { body } = await workspace.reserve(11, { replica });
      expect(body).toMatchObject({ denial: { budget_id: 'bud_roll', held_micros: 80 } });
    }
    budgets.state.down = true;
    clock.now += 10_000;
    expect((await workspace.reserve(21)).body).toMatchObject({ decision: 'denied' });
    await workspace.settle(id, 80);
    budgets.state.down = false;
    clock.now += 2 * 3_600_000;
    // The hour has left, the month has not.
    expect((await workspace.reserve(21)).body).toMatchObject({ denial: { budget_id: 'bud_month', spent_micros: 80 } });
    await workspace.granted(20);
  });

  it('counts spend that was reported before budgets had ever answered, once it does', async () => {
    const workspace = limitedBy(MONTHLY);
    budgets.state.down = true;
    await workspace.spend({ amount_micros: 60 });
    await expect(workspace.reserve(1, { once: true })).resolves.toMatchObject({ status: 503 });
    budgets.state.down = false;
    await eventually(async () => {
      stack.passRetryAfter();
      expect(await limitsOf(workspace)).toMatchObject([{ budget_id: 'bud_month', spent_micros: 60 }]);
    });
  });

  it('is of one workspace alone', async () => {
    const [one, other] = [limitedBy(MONTHLY), stack.newWorkspace()];
    await other.granted(1_000);
    expect((await one.reserve(101)).body).toMatchObject({ decision: 'denied' });
    expect(await limitsOf(other)).toEqual([]);
    expect((await other.call('get', '/api/v1/limits?budget_id=bud_month', { role: 'member' })).status).toBe(404);
  });
});

it('the limits have the values of a budget with the most spend, and all of them for one budget', async () => {
  const workspace = limitedBy({ ...MONTHLY, each: 'agent', limitMicros: 1_000 });
  const agents = Array.from({ length: 12 }, (_, index) => `agent-${index}`);
  for (const [index, agent_id] of agents.entries()) await workspace.granted({ agent_id, amount_micros: index + 1 });
  const held = (rows: Body[]) => rows.map((row) => `${row['value']} ${row['held_micros']}`);
  const mostFirst = agents.map((agent, index) => `${agent} ${index + 1}`).reverse();
  expect(held(await limitsOf(workspace))).toEqual(mostFirst.slice(0, 10));
  expect(held(await limitsOf(workspace, '?budget_id=bud_month'))).toEqual(mostFirst);
});

it('the limits of an agent are those of the budgets in which all of its calls count, however little it has spent', async () => {
  const budget = (id: string, more: object): StandInBudget => ({ ...MONTHLY, id, limitMicros: 1_000, ...more });
  const workspace = limitedBy(
    budget('bud_all', {}),
    budget('bud_each', { each: 'agent' }),
    budget('bud_own', { selector: { agent: 'agent-0' } }),
    budget('bud_start', { selector: { agent: 'agent-*' } }),
    budget('bud_other', { selector: { agent: 'agent-1' } }),
    budget('bud_model', { selector: { agent: 'agent-0', model: 'gpt-*' } }),
    budget('bud_team', { selector: { labels: { team: 'growth' } } }),
    budget('bud_user', { each: 'label:user' }),
    budget('bud_plan', { selector: { plan: 'pro' } }),
  );
  budgets.setAgent(workspace.tenantId, 'agent-0', 500);
  budgets.setPlan(workspace.tenantId, 'pro', 500);
  const agents = Array.from({ length: 12 }, (_, index) => `agent-${index}`);
  for (const [index, agent_id] of agents.entries()) await workspace.granted({ agent_id, amount_micros: index + 1 });
  const held = (rows: Body[]) => rows.map((row) => [row['budget_id'], row['value'], row['held_micros']]);
  const ofAgent = [
    ['bud_agent.agent-0', undefined, 1],
    ['bud_all', undefined, 78],
    ['bud_each', 'agent-0', 1],
    ['bud_own', undefined, 1],
    ['bud_start', undefined, 78],
  ];
  expect(held(await limitsOf(workspace, '?agent_id=agent-0'))).toEqual(ofAgent);
  const [daily, ...others] = ofAgent;
  const ofPlan = [daily, ['bud_plan.pro', undefined, 0], ...others, ['bud_plan', undefined, 0]];
  expect(held(await limitsOf(workspace, '?agent_id=agent-0&plan_key=pro'))).toEqual(ofPlan);
});
