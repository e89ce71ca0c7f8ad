import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { identityRequests, identityService, type IdentityServiceDefinition, type Labels } from '@tollkeeper/contracts';
import { createGrpcClient, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, createPeers, testLogger, type TestLogger } from '@tollkeeper/testing';
import { type AgentLabels, createAgentLabels } from './agent.labels.ts';

/** Labels by workspace and agent, as identity has them. */
const stored = new Map<string, Labels>();
const asked: { tenantId: string; agentIds: string[] }[] = [];
const state = { down: false, holds: new Map<string, Promise<void>>() };
const clock = { now: 1_000_000 };
const unused = () => Promise.reject(new AppError('internal', 'Not a call for labels'));
const handlers: UnaryHandlers<IdentityServiceDefinition> = {
  async getAgents({ tenantId, agentIds }) {
    asked.push({ tenantId, agentIds });
    await state.holds.get(tenantId);
    if (state.down) throw new AppError('internal', 'The identity service failed.');
    const known = agentIds.filter((id) => stored.has(`${tenantId}/${id}`));
    const displayName = '\uffff'.repeat(120);
    return {
      agents: known.map((agentId) => ({ agentId, displayName, labels: { ...stored.get(`${tenantId}/${agentId}`) } })),
    };
  },
  resolveSession: unused,
  getWorkspace: unused,
  registerAgents: unused,
};
const peers = createPeers(testLogger().logger, [grpcService(identityService, identityRequests, handlers)]);
let client: ReturnType<typeof createGrpcClient<typeof identityService>>;
let logs: TestLogger;
let source: AgentLabels;
let tenantId: TenantId;

beforeAll(async () => {
  await peers.start();
  client = createGrpcClient(identityService, peers.address, { config: { CALLER_TOKEN_SECRET }, deadlineMs: 60_000 });
});
afterAll(async () => {
  await client.stop();
  await peers.stop();
});
beforeEach(() => {
  state.down = false;
  state.holds.clear();
  logs = testLogger();
  // Without the deadline, since a busy machine may be slow.
  const identity = { getAgents: (request: Parameters<typeof client.getAgents>[0]) => client.getAgents(request) };
  source = createAgentLabels({ identity, deadlineMs: 200, logger: logs.logger, now: () => clock.now });
  tenantId = newTenant();
  asked.length = 0;
});

const newTenant = () => provenTenantId(newId('ws'));
const label = (of: TenantId, agentId: string, labels: Labels) => stored.set(`${of}/${agentId}`, labels);
const labelsOf = async (agentIds: string[], of = tenantId) => Object.fromEntries(await source.labelsOf(of, agentIds));
const unavailable = expect.objectContaining({ code: 'service_unavailable', retryAfterSeconds: 1 });
const ids = (count: number) => Array.from({ length: count }, (_, nth) => `agent-${nth}`);
/** Blocks the answers about a workspace until the returned function is called. */
function hold(of: TenantId): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  state.holds.set(of, promise);
  return () => {
    state.holds.delete(of);
    resolve();
  };
}

describe('the labels of agents', () => {
  it('are those that identity has, and of no other workspace', async () => {
    label(tenantId, 'planner', { team: 'growth', 'cost.center': '42' });
    label(newTenant(), 'coder', { team: 'theirs' });
    expect(await labelsOf(['planner', 'coder'])).toEqual({ planner: { team: 'growth', 'cost.center': '42' } });
    expect(await labelsOf([])).toEqual({});
  });

  it('are answered at once while they are fresh, also for agents without any, and changes are seen within 2 s', async () => {
    label(tenantId, 'planner', { team: 'growth' });
    await labelsOf(['planner', 'coder']);
    label(tenantId, 'planner', { team: 'sales' });
    label(tenantId, 'coder', { team: 'research' });
    clock.now += 1_800;
    expect(source.labelsOf(tenantId, ['planner', 'coder'])).toEqual(new Map([['planner', { team: 'growth' }]]));
    expect(asked).toHaveLength(1);
    clock.now += 1;
    const changed = { planner: { team: 'sales' }, coder: { team: 'research' } };
    expect(await labelsOf(['planner', 'coder'])).toEqual(changed);
  });

  it('are asked in one question at a time, which all who come meanwhile share', async () => {
    const release = hold(tenantId);
    const first = labelsOf(['a', 'b']);
    const same = labelsOf(['b']);
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const others = [labelsOf(['a']), labelsOf(['c']), labelsOf(['d', 'a'])];
    release();
    await Promise.all([first, same, ...others]);
    expect(asked.map(({ agentIds }) => agentIds)).toEqual([
      ['a', 'b'],
      ['c', 'd', 'a'],
    ]);
  });

  it('are answered for a batch of 1000 agents, however long they all are', async () => {
    const labels = Array.from({ length: 10 }, (_, nth) => [`${'x'.repeat(31)}${nth}`, '\uffff'.repeat(128)]);
    for (const id of ids(1_000)) label(tenantId, id, Object.fromEntries(labels));
    expect((await source.labelsOf(tenantId, ids(1_000))).size).toBe(1_000);
  });

  it('of one workspace do not wait for those of another', async () => {
    const slow = newTenant();
    const release = hold(slow);
    const waiting = labelsOf(['planner'], slow);
    label(tenantId, 'planner', { team: 'growth' });
    expect(await labelsOf(['planner'])).toEqual({ planner: { team: 'growth' } });
    release();
    await waiting;
  });
});

describe('while identity is down', () => {
  it('the last known labels stay in force, however old; an agent that is not known is refused', async () => {
    label(tenantId, 'planner', { team: 'growth' });
    await labelsOf(['planner', 'coder']);
    state.down = true;
    clock.now += 3_600_000;
    expect(await labelsOf(['planner', 'coder'])).toEqual({ planner: { team: 'growth' } });
    await expect(labelsOf(['planner', 'unknown'])).rejects.toEqual(unavailable);
    expect(logs.text()).toContain('the last known labels stay in force');
  });

  it('it is asked once a second, and its labels are in force again once it answers', async () => {
    await labelsOf(['planner']);
    state.down = true;
    clock.now += 2_000;
    await labelsOf(['planner']);
    await expect(labelsOf(['unknown'])).rejects.toEqual(unavailable);
    clock.now += 999;
    await labelsOf(['planner']);
    await expect(labelsOf(['unknown'])).rejects.toEqual(unavailable);
    expect(asked).toHaveLength(2);

    state.down = false;
    label(tenantId, 'planner', { team: 'new' });
    clock.now += 1;
    expect(await labelsOf(['unknown'])).toEqual({});
    expect(await labelsOf(['planner'])).toEqual({ planner: { team: 'new' } });
  });

  it('labels that were not asked for a while are asked again, and not used as they were', async () => {
    await labelsOf(['planner']);
    state.down = true;
    clock.now += 2_000;
    await labelsOf(['planner']);
    state.down = false;
    label(tenantId, 'planner', { team: 'new' });
    clock.now += 2_000;
    expect(await labelsOf(['planner'])).toEqual({ planner: { team: 'new' } });
  });

  it('another workspace is still asked', async () => {
    state.down = true;
    await expect(labelsOf(['planner'])).rejects.toEqual(unavailable);
    state.down = false;
    expect(await labelsOf(['planner'], newTenant())).toEqual({});
  });
});
