import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const stack = useEnforcer(useMongo());
const { budgets, log } = stack;

/** A workspace that may spend nothing. */
const spent = () => stack.limitedTo(0);
type Workspace = ReturnType<typeof spent>;

async function deny(workspace: Workspace, asked: Body = {}): Promise<void> {
  const answer = await workspace.reserve({ amount_micros: 1, ...asked });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'denied' } });
}

const denials = (workspace: Workspace) => workspace.events('budget.blocked').map(({ data }) => data as Body);
const countOf = ({ count = 1 }: Body) => count as number;
const total = (workspace: Workspace) => denials(workspace).reduce((sum, data) => sum + countOf(data), 0);

describe('denials of an agent that repeat', () => {
  it('are few events, whose counts add up to the denials, of 200 callers for seconds', async () => {
    const workspace = spent();
    const before = log.appends;
    const until = performance.now() + 3_000;
    let denied = 0;
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        for (let calls = 0; calls < 2 || performance.now() < until; calls += 1) {
          await deny(workspace, { run_id: `run-${denied}` });
          denied += 1;
        }
      }),
    );
    await eventually(async () => expect(total(workspace)).toBe(denied));
    expect(denied).toBeGreaterThan(200);
    // One at the start, then one per second or per 1,000 denials.
    expect(denials(workspace).length).toBeLessThan(10 + denied / 1_000);
    expect(log.appends - before).toBeLessThan(10 + denied / 1_000);
    expect(new Set(workspace.events('budget.blocked').map(({ id }) => id)).size).toBe(denials(workspace).length);
  });

  it('are reported as the newest of them, the first one at once', async () => {
    const workspace = spent();
    await deny(workspace, { run_id: 'run-first', amount_micros: 1 });
    expect(denials(workspace)).toMatchObject([{ run_id: 'run-first', requested_micros: 1 }]);
    expect(denials(workspace)[0]).not.toHaveProperty('count');
    for (const amount_micros of [2, 3, 4]) await deny(workspace, { run_id: `run-${amount_micros}`, amount_micros });
    await eventually(async () => expect(total(workspace)).toBe(4));
    expect(denials(workspace).at(-1)).toMatchObject({ run_id: 'run-4', requested_micros: 4, scope: 'workspace' });
  });

  it('are events of their own by agent, plan and limit', async () => {
    const workspace = spent();
    for (const plan of ['pro', 'team']) budgets.setPlan(workspace.tenantId, plan, 100);
    const askedFor = [{ agent_id: 'a' }, { agent_id: 'b' }, { plan_key: 'pro' }, { plan_key: 'team' }];
    for (const asked of [...askedFor, ...askedFor]) await deny(workspace, asked);
    await eventually(async () => expect(total(workspace)).toBe(8));
    const named = denials(workspace).map(({ agent_id, plan_key }) => `${String(agent_id)} ${String(plan_key ?? '-')}`);
    expect(new Set(named)).toEqual(new Set(['a -', 'b -', 'planner pro', 'planner team']));
  });

  it('count a request once that asks again and again', async () => {
    const workspace = spent();
    for (let i = 0; i < 20; i += 1) await deny(workspace, { request_id: `req-${i % 2}` });
    await deny(workspace, { request_id: 'req-other' });
    await stack.restart();
    expect(total(workspace)).toBe(3);
  });
});

describe('denials of many agents', () => {
  it('are all reported, in few appends, also of more agents than series are kept of', async () => {
    const workspace = spent();
    const before = log.appends;
    const agents = Array.from({ length: 1_100 }, (_, index) => `agent-${index}`);
    const batches = Array.from({ length: agents.length / 50 }, (_, index) => agents.slice(50 * index, 50 * index + 50));
    for (const batch of batches) {
      let asked = batch;
      // A refusal is not a denial: refused requests are repeated, as gateways do.
      await eventually(async () => {
        const requests = asked.map((agentId) => ({ requestId: agentId, agentId, runId: 'r', amountMicros: 1 }));
        const { results } = (await workspace.rpc('ReserveMany', { requests })) as { results?: { result: string }[] };
        asked = asked.filter((_agent, index) => results?.[index]?.result !== 'response');
        if (asked.length > 0) stack.passRetryAfter();
        expect(asked).toEqual([]);
      });
    }
    await eventually(async () => expect(new Set(denials(workspace).map(({ agent_id }) => agent_id)).size).toBe(1_100));
    expect(total(workspace)).toBe(1_100);
    expect(log.appends - before).toBeLessThan(agents.length / 4);
  });
});

describe('a workspace whose append hangs', () => {
  it('is denied anyway, and delays no append of another one', async () => {
    const [stalled, other] = [spent(), spent()];
    let resume = () => {};
    log.stalls.set(stalled.tenantId, new Promise((resolve) => (resume = resolve)));
    try {
      await Promise.all(Array.from({ length: 20 }, (_, index) => deny(stalled, { agent_id: `agent-${index}` })));
      await deny(other);
      expect(denials(other)).toHaveLength(1);
      expect(denials(stalled)).toEqual([]);
    } finally {
      resume();
      log.stalls.clear();
    }
    await eventually(async () => expect(total(stalled)).toBe(20));
  });
});

describe('a stop', () => {
  it('reports the denials that are counted', async () => {
    const workspace = spent();
    for (let i = 0; i < 5; i += 1) await deny(workspace);
    await stack.restart();
    expect(total(workspace)).toBe(5);
  });
});

describe('denials that the log does not take', () => {
  it('are all in the counter of unreported denials', async () => {
    const workspace = spent();
    const unreported = () => stack.counted('enforcer_unreported_denials_total');
    const before = await unreported();
    log.down = true;
    for (let i = 0; i < 5; i += 1) await deny(workspace);
    await eventually(async () => expect(await unreported()).toBe(before + 5));
    expect(denials(workspace)).toEqual([]);
  });
});
