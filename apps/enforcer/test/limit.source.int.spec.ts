import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { budgetsService, type BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcClient, type GrpcClient } from '@tollkeeper/grpc';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Metrics } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET, eventually, testLogger, type TestLogger } from '@tollkeeper/testing';
import { createLimitSource } from '../src/clients/limit.source.ts';
import type { LimitSource } from '../src/domain/peers.ts';
import { createBudgetsStandIn } from './budgets.stand-in.ts';

/** How long an answer is used before budgets is asked again. */
const FRESH_MS = 1500;
/** How long budgets is not asked after a failure. */
const PAUSE_MS = 1000;

type Budgets = GrpcClient<BudgetsServiceDefinition>;

const clock = { now: 0 };
let logs: TestLogger;
let budgets: ReturnType<typeof createBudgetsStandIn>;
let client: Budgets;
let metrics: Metrics;
let source: LimitSource;
let tenantId: TenantId;

beforeEach(async () => {
  clock.now = 1_000_000;
  logs = testLogger();
  budgets = createBudgetsStandIn(logs.logger);
  await budgets.start();
  client = createGrpcClient(budgetsService, budgets.address, { config: { CALLER_TOKEN_SECRET }, deadlineMs: 60_000 });
  // Connects first, since the first call of a process may take longer than the deadline of the source.
  await eventually(() => client.listBudgets({ tenantId: newTenant() }));
  source = sourceOf(patient(client));
  tenantId = newTenant();
});
afterEach(async () => {
  await client.stop();
  await budgets.stop();
});

function sourceOf(of: Budgets): LimitSource {
  metrics = createMetrics('enforcer');
  return createLimitSource({ budgets: of, logger: logs.logger, metrics, now: () => clock.now });
}

/** Without deadlines, since a busy machine may be slow. */
function patient(of: Budgets): Budgets {
  return {
    ...of,
    getBudgets: (request) => of.getBudgets(request),
    listBudgets: (request) => of.listBudgets(request),
  };
}

function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}

/** The limits that apply to a call, by scope. */
async function amounts(of: TenantId, agentId = 'planner', planKey: string | null = null) {
  const { limits } = await source.applying(of, { agentId, planKey });
  return Object.fromEntries(limits.map(({ scope, limitMicros }) => [scope, limitMicros]));
}

const planOf = async (planKey: string | null) =>
  (await source.applying(tenantId, { agentId: 'planner', planKey })).plan;

async function staleAnswers(): Promise<number> {
  const { values } = await metrics.registry.getSingleMetric('enforcer_stale_limits_total')!.get();
  return values[0]?.value ?? 0;
}

const warnings = () => logs.lines().filter(({ msg }) => String(msg).includes('last known limits')).length;

/** Blocks the answers of budgets until the returned function is called. */
function holdAnswers(): () => void {
  let release = () => {};
  budgets.state.hold = new Promise<void>((resolve) => {
    release = () => {
      budgets.state.hold = undefined;
      resolve();
    };
  });
  return release;
}

describe('the limits that apply to a call', () => {
  it('are those of the workspace, the agent and the plan, where they are set', async () => {
    expect(await source.applying(tenantId, { agentId: 'planner', planKey: null })).toEqual({
      limits: [],
      plan: 'none',
    });
    const other = newTenant();
    budgets.setWorkspace(other, Number.MAX_SAFE_INTEGER);
    budgets.setAgent(other, 'planner', 0);
    budgets.setAgent(other, 'coder', 3);
    budgets.setPlan(other, 'pro', 4);
    expect(await source.applying(other, { agentId: 'planner', planKey: 'pro' })).toEqual({
      limits: [
        { scope: 'workspace', scopeId: other, limitMicros: Number.MAX_SAFE_INTEGER },
        { scope: 'agent', scopeId: 'planner', limitMicros: 0 },
        { scope: 'plan', scopeId: 'pro', limitMicros: 4 },
      ],
      plan: 'active',
    });
    expect(await source.applying(tenantId, { agentId: 'planner', planKey: null })).toEqual({
      limits: [],
      plan: 'none',
    });
  });

  it('distinguish an active plan from an inactive one, and from none', async () => {
    budgets.setPlan(tenantId, 'on', 1);
    budgets.setPlan(tenantId, 'off', 1, false);
    expect([await planOf('on'), await planOf('off'), await planOf('no'), await planOf(null)]).toEqual([
      'active',
      'inactive',
      'unknown',
      'none',
    ]);
    expect(await amounts(tenantId, 'planner', 'off')).toEqual({});
  });

  it('distinguish an agent from a plan of the same name', async () => {
    budgets.setAgent(tenantId, 'pro', 1);
    budgets.setPlan(tenantId, 'pro', 2);
    expect(await amounts(tenantId, 'pro', 'pro')).toEqual({ agent: 1, plan: 2 });
  });
});

describe('freshness', () => {
  it('is 1.5 s from the question on: no question before, a changed budget after', async () => {
    budgets.setWorkspace(tenantId, 1);
    budgets.setPlan(tenantId, 'pro', 1);
    await amounts(tenantId, 'planner', 'pro');
    budgets.setWorkspace(tenantId, null);
    budgets.setAgent(tenantId, 'planner', 2);
    budgets.setPlan(tenantId, 'pro', 2, false);
    clock.now += FRESH_MS;
    for (let times = 0; times < 10; times += 1) {
      expect(await amounts(tenantId, 'planner', 'pro')).toEqual({ workspace: 1, plan: 1 });
    }
    expect(budgets.asked).toHaveLength(1);
    clock.now += 1;
    expect(await amounts(tenantId, 'planner', 'pro')).toEqual({ agent: 2 });
    expect(budgets.asked).toHaveLength(2);
  });

  it('does not begin with the answer, which may be old when it comes', async () => {
    const release = holdAnswers();
    const first = amounts(tenantId);
    await eventually(() => expect(budgets.asked).toHaveLength(1));
    budgets.setWorkspace(tenantId, 1);
    clock.now += FRESH_MS + 1;
    release();
    await first;
    expect(await amounts(tenantId)).toEqual({ workspace: 1 });
  });

  it('is of each account: what is known of the workspace says nothing of another agent', async () => {
    budgets.setAgent(tenantId, 'coder', 2);
    await amounts(tenantId, 'planner');
    expect(await amounts(tenantId, 'coder')).toEqual({ agent: 2 });
    expect(budgets.asked.map(({ agentIds }) => agentIds)).toEqual([['planner'], ['coder']]);
  });
});

describe('questions', () => {
  it('are one for calls that come together, and one for all that come while it is in progress', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `agent-${index}`);
    for (const [index, id] of ids.entries()) budgets.setAgent(tenantId, id, index);
    const release = holdAnswers();
    const early = ids.slice(0, 10).map((id) => amounts(tenantId, id));
    await eventually(() => expect(budgets.asked).toHaveLength(1));
    const late = ids.map((id) => amounts(tenantId, id, 'pro'));
    release();
    expect(await Promise.all([...early, ...late])).toEqual(
      [...ids.slice(0, 10), ...ids].map((_id, index) => ({ agent: index < 10 ? index : index - 10 })),
    );
    expect(budgets.asked.map(({ agentIds }) => agentIds.length)).toEqual([10, 20]);
    expect(budgets.mostInFlight()).toBe(1);
  });

  it('are not asked again for what the one in progress asks', async () => {
    const release = holdAnswers();
    const first = amounts(tenantId);
    await eventually(() => expect(budgets.asked).toHaveLength(1));
    const second = amounts(tenantId);
    release();
    await Promise.all([first, second]);
    expect(budgets.asked).toHaveLength(1);
  });

  it('of two workspaces do not wait for each other, and keep the same agent apart', async () => {
    const other = newTenant();
    budgets.setAgent(tenantId, 'planner', 1);
    budgets.setAgent(other, 'planner', 2);
    const release = holdAnswers();
    const both = Promise.all([amounts(tenantId), amounts(other)]);
    await eventually(() => expect(budgets.mostInFlight()).toBe(2));
    release();
    expect(await both).toEqual([{ agent: 1 }, { agent: 2 }]);
  });

  it('have at most 1000 agents and 1000 plans each', async () => {
    const ids = Array.from({ length: 2500 }, (_, index) => `a${index}`);
    for (const id of ids) budgets.setAgent(tenantId, id, 1);
    expect(await Promise.all(ids.map((id) => amounts(tenantId, id, id)))).toEqual(ids.map(() => ({ agent: 1 })));
    expect(budgets.asked.map(({ agentIds, planKeys }) => [agentIds.length, planKeys.length])).toEqual([
      [1000, 1000],
      [1000, 1000],
      [500, 500],
    ]);
  });
});

describe('while budgets is down', () => {
  beforeEach(async () => {
    budgets.setWorkspace(tenantId, 7);
    budgets.setPlan(tenantId, 'pro', 8);
    await amounts(tenantId, 'planner', 'pro');
    budgets.state.down = true;
    clock.now += FRESH_MS + 1;
  });

  it('the last known limits stay in force, however old, with a metric and a warning a minute', async () => {
    for (let minutes = 0; minutes < 3; minutes += 1) {
      for (let times = 0; times < 5; times += 1) {
        expect(await amounts(tenantId, 'planner', 'pro')).toEqual({ workspace: 7, plan: 8 });
        clock.now += PAUSE_MS;
      }
      await eventually(() => expect(warnings()).toBe(minutes + 1));
      clock.now += 60_000;
    }
    expect(await staleAnswers()).toBe(15);
  });

  it('an agent or a plan that is not known is service_unavailable', async () => {
    const error = { code: 'service_unavailable', retryAfterSeconds: 1 };
    await expect(amounts(tenantId, 'coder')).rejects.toMatchObject(error);
    await expect(amounts(tenantId, 'planner', 'basic')).rejects.toMatchObject(error);
    await expect(amounts(newTenant())).rejects.toMatchObject(error);
    await expect(source.of(tenantId, { agent: ['coder'], plan: [] })).rejects.toMatchObject(error);
    await expect(source.all(tenantId)).rejects.toMatchObject(error);
  });

  it('it is asked once a second about a workspace, and calls with known limits do not wait for it', async () => {
    expect(await amounts(tenantId)).toEqual({ workspace: 7 });
    const before = budgets.asked.length;
    const calls = () => Promise.allSettled([amounts(tenantId), amounts(tenantId, 'coder')]);
    clock.now += PAUSE_MS - 1;
    await calls();
    expect(budgets.asked).toHaveLength(before);
    clock.now += 1;
    const release = holdAnswers();
    budgets.state.down = false;
    budgets.setWorkspace(tenantId, 8);
    // The answer is blocked, so this would never end if it waited for it.
    expect(await amounts(tenantId)).toEqual({ workspace: 7 });
    await eventually(() => expect(budgets.asked).toHaveLength(before + 1));
    release();
    await eventually(async () => expect(await amounts(tenantId)).toEqual({ workspace: 8 }));
  });

  it('a failure about one workspace does not keep another one from being asked', async () => {
    await amounts(tenantId);
    budgets.state.down = false;
    const other = newTenant();
    budgets.setWorkspace(other, 9);
    expect(await amounts(other)).toEqual({ workspace: 9 });
  });

  it('what waits behind a question that fails fails with it, unasked', async () => {
    budgets.state.down = false;
    const release = holdAnswers();
    source = sourceOf(client);
    const fresh = newTenant();
    const asked = () => budgets.asked.filter(({ tenantId: of }) => of === fresh);
    // The answers stay blocked past the deadline.
    const waiting = expect(amounts(fresh)).rejects.toMatchObject({ code: 'service_unavailable' });
    await eventually(() => expect(asked()).toHaveLength(1));
    await expect(amounts(fresh, 'coder')).rejects.toMatchObject({ code: 'service_unavailable' });
    await waiting;
    expect(asked()).toHaveLength(1);
    release();
  });

  it('and when it is back, its budgets count again', async () => {
    await amounts(tenantId);
    budgets.setWorkspace(tenantId, 10);
    budgets.state.down = false;
    clock.now += PAUSE_MS;
    await eventually(async () => expect(await amounts(tenantId)).toEqual({ workspace: 10 }));
    const stale = await staleAnswers();
    clock.now += FRESH_MS + 1;
    budgets.setWorkspace(tenantId, 11);
    expect(await amounts(tenantId)).toEqual({ workspace: 11 });
    expect(await staleAnswers()).toBe(stale);
  });
});

describe('while the server of budgets is not there at all', () => {
  it('known limits stay in force, unknown ones are service_unavailable, and both come back with it', async () => {
    budgets.setWorkspace(tenantId, 7);
    await amounts(tenantId);
    await budgets.stop();
    clock.now += FRESH_MS + 1;
    expect(await amounts(tenantId)).toEqual({ workspace: 7 });
    await expect(amounts(newTenant())).rejects.toMatchObject({ code: 'service_unavailable' });
    await budgets.start();
    budgets.setWorkspace(tenantId, 8);
    await eventually(async () => {
      clock.now += PAUSE_MS;
      expect(await amounts(tenantId)).toEqual({ workspace: 8 });
    });
  });
});

describe('the limits of chosen accounts', () => {
  it('are those that are set: the workspace first, then agents and plans in the order asked, inactive ones too', async () => {
    budgets.setWorkspace(tenantId, 1);
    budgets.setAgent(tenantId, 'b', 2);
    budgets.setAgent(tenantId, 'c', 3);
    budgets.setPlan(tenantId, 'off', 4, false);
    budgets.setPlan(tenantId, 'on', 5);
    expect(await source.of(tenantId, { agent: ['c', 'a', 'b'], plan: ['off', 'no'] })).toEqual([
      { scope: 'workspace', scopeId: tenantId, limitMicros: 1 },
      { scope: 'agent', scopeId: 'c', limitMicros: 3 },
      { scope: 'agent', scopeId: 'b', limitMicros: 2 },
      { scope: 'plan', scopeId: 'off', limitMicros: 4 },
    ]);
    expect(budgets.asked).toHaveLength(1);
    await source.of(tenantId, { agent: ['a'], plan: ['no'] });
    expect(budgets.asked).toHaveLength(1);
  });

  it('are kept for 100,000 accounts, the last used ones', async () => {
    const idOf = (index: number) => `agent-${index}`;
    const agent = Array.from({ length: 100_000 }, (_, index) => idOf(index));
    expect(await source.of(tenantId, { agent, plan: [] })).toEqual([]);
    budgets.state.down = true;
    clock.now += FRESH_MS + 1;
    await expect(amounts(tenantId, idOf(99_999))).resolves.toEqual({});
    await expect(amounts(tenantId, idOf(0))).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('all limits', () => {
  it('are those that are set now: the workspace, agents and plans by id, inactive plans too', async () => {
    const other = newTenant();
    budgets.setWorkspace(other, 9);
    expect(await source.all(tenantId)).toEqual([]);
    budgets.setWorkspace(tenantId, 0);
    for (const id of ['b', 'a']) budgets.setAgent(tenantId, id, 2);
    for (const key of ['z', 'y']) budgets.setPlan(tenantId, key, 3, key === 'y');
    expect(await source.all(tenantId)).toEqual([
      { scope: 'workspace', scopeId: tenantId, limitMicros: 0 },
      { scope: 'agent', scopeId: 'a', limitMicros: 2 },
      { scope: 'agent', scopeId: 'b', limitMicros: 2 },
      { scope: 'plan', scopeId: 'y', limitMicros: 3 },
      { scope: 'plan', scopeId: 'z', limitMicros: 3 },
    ]);
  });
});
