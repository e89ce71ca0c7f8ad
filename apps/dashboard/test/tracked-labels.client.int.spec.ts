import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { identityRequests, identityService } from '@tollkeeper/contracts';
import { createGrpcClient, grpcService } from '@tollkeeper/grpc';
import { AppError, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, createPeers, testLogger } from '@tollkeeper/testing';
import { createTrackedLabels } from '../src/clients/tracked-labels.client.ts';

const stored = new Map<string, string[]>();
const held = new Set<string>();
let down = false;
let asked: string[] = [];
const clock = { now: 1_000_000 };
const unused = () => Promise.reject(new AppError('internal', 'Not a call for labels'));
const identity = grpcService(identityService, identityRequests, {
  async getWorkspace({ tenantId }) {
    asked.push(tenantId);
    if (held.has(tenantId)) await new Promise(() => undefined);
    if (down) throw new AppError('internal', 'The identity service failed.');
    const workspace = { id: tenantId, slug: 'demo', name: 'Demo', timezone: 'UTC' };
    return { workspace: { ...workspace, trackedLabels: stored.get(tenantId) ?? [] } };
  },
  resolveSession: unused,
  getAgents: unused,
  registerAgents: unused,
});
const { logger } = testLogger();
const peers = createPeers(logger, [identity]);
let client: ReturnType<typeof createGrpcClient<typeof identityService>>;
let tracked: ReturnType<typeof createTrackedLabels>;

beforeAll(async () => {
  await peers.start();
  client = createGrpcClient(identityService, peers.address, { config: { CALLER_TOKEN_SECRET } });
});
afterAll(async () => {
  await client.stop();
  await peers.stop();
});
beforeEach(() => {
  tracked = createTrackedLabels(client, logger, () => clock.now);
  down = false;
  asked = [];
});

function newTenant(...names: string[]): TenantId {
  const tenantId = provenTenantId(newId('ws'));
  stored.set(tenantId, names);
  return tenantId;
}

async function afterRefresh(tenantId: TenantId): Promise<readonly string[] | undefined> {
  await tracked.refresh([tenantId]);
  return tracked.lastKnown(tenantId);
}

describe('the labels that a workspace tracks', () => {
  it('are asked for once in 5 seconds, and changes are seen then', async () => {
    const tenantId = newTenant('team');
    expect(tracked.lastKnown(tenantId)).toBeUndefined();
    expect(await afterRefresh(tenantId)).toEqual(['team']);
    stored.set(tenantId, ['team', 'env']);
    clock.now += 4_999;
    expect(await afterRefresh(tenantId)).toEqual(['team']);
    clock.now += 2;
    expect(tracked.lastKnown(tenantId)).toEqual(['team']);
    expect(await afterRefresh(tenantId)).toEqual(['team', 'env']);
    expect(asked).toHaveLength(2);
  });

  it('stay as they are last known while identity is down, and it is asked once in 5 seconds', async () => {
    const [known, unknown] = [newTenant('team'), newTenant('team')];
    await tracked.refresh([known]);
    down = true;
    clock.now += 5_001;
    await tracked.refresh([known, unknown]);
    await tracked.refresh([known, unknown]);
    expect(asked).toHaveLength(3);
    expect([tracked.lastKnown(known), tracked.lastKnown(unknown)]).toEqual([['team'], undefined]);
    await expect(tracked.of(unknown)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
    clock.now += 3_600_000;
    expect(await afterRefresh(known)).toEqual(['team']);
    down = false;
    clock.now += 5_001;
    expect(await afterRefresh(unknown)).toEqual(['team']);
  });

  it('are waited for no longer than a deadline if identity hangs, and those of other workspaces are known', async () => {
    const [hanging, other] = [newTenant('team'), newTenant('env')];
    held.add(hanging);
    await tracked.refresh([hanging, other]);
    expect([tracked.lastKnown(hanging), tracked.lastKnown(other)]).toEqual([undefined, ['env']]);
  });
});
