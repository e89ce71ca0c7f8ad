import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcClient, type GrpcClient } from '@tollkeeper/grpc';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, eventually, testLogger, type TestLogger } from '@tollkeeper/testing';
import { createAgentRegistrar } from '../src/clients/agent.registrar.ts';
import { createTimezoneSource } from '../src/clients/timezone.source.ts';
import type { AgentRegistrar } from '../src/domain/peers.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';

type Client = GrpcClient<IdentityServiceDefinition>;

let logs: TestLogger;
let identity: ReturnType<typeof createIdentityStandIn>;
let client: Client;
let tenantId: TenantId;

beforeEach(async () => {
  logs = testLogger();
  identity = createIdentityStandIn(logs.logger);
  await identity.start();
  client = createGrpcClient(identityService, identity.address, { config: { CALLER_TOKEN_SECRET }, deadlineMs: 60_000 });
  tenantId = newTenant();
});
afterEach(async () => {
  await client.stop();
  await identity.stop();
});

function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}

describe('the time zone of a workspace', () => {
  /** Without deadlines, since a busy machine may be slow. */
  const patient = (): Client => ({ ...client, getWorkspace: (request) => client.getWorkspace(request) });
  const timezoneOf = (of: TenantId) => createTimezoneSource(patient(), logs.logger).timezoneOf(of);

  it('is the one that is set now', async () => {
    expect(await timezoneOf(tenantId)).toBe('UTC');
    identity.setTimezone(tenantId, 'Europe/Zurich');
    expect(await timezoneOf(tenantId)).toBe('Europe/Zurich');
    expect(await timezoneOf(newTenant())).toBe('UTC');
  });

  it('is UTC where the zone is unknown, with a warning', async () => {
    identity.setTimezone(tenantId, 'Mars/Olympus');
    expect(await timezoneOf(tenantId)).toBe('UTC');
    expect(logs.lines()).toContainEqual(expect.objectContaining({ tenant_id: tenantId, timezone: 'Mars/Olympus' }));
  });

  it('is UTC for a workspace that identity does not know, with an error for operators', async () => {
    identity.forget(tenantId);
    expect(await timezoneOf(tenantId)).toBe('UTC');
    expect(logs.lines()).toContainEqual(expect.objectContaining({ level: 'error', tenant_id: tenantId }));
  });

  it('is service_unavailable while identity fails, or is not there', async () => {
    const error = { code: 'service_unavailable', retryAfterSeconds: 1 };
    identity.state.down = true;
    await expect(timezoneOf(tenantId)).rejects.toMatchObject(error);
    await identity.stop();
    await expect(timezoneOf(tenantId)).rejects.toMatchObject(error);
  });
});

describe('agents that are seen', () => {
  let registrar: AgentRegistrar;
  const seeAll = (of: TenantId, agentIds: string[]) => agentIds.forEach((agentId) => registrar.seen(of, agentId));
  const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => `agent-${index}`).sort();
  /** Blocks the answers of identity until the returned function is called. */
  function holdAnswers(): () => void {
    let release = () => {};
    identity.state.hold = new Promise<void>((resolve) => {
      release = () => {
        identity.state.hold = undefined;
        resolve();
      };
    });
    return release;
  }

  beforeEach(() => {
    registrar = createAgentRegistrar({ identity: client, logger: logs.logger, now: () => performance.now() });
  });

  it('are registered once, in their workspace', async () => {
    const other = newTenant();
    seeAll(tenantId, ['a', 'b', 'a']);
    seeAll(other, ['a']);
    await eventually(() => expect(identity.agentsOf(tenantId)).toEqual(['a', 'b']));
    await eventually(() => expect(identity.agentsOf(other)).toEqual(['a']));
    // When the marker is registered, everything caused by earlier calls has been registered.
    seeAll(tenantId, ['a', 'b', 'marker']);
    await eventually(() => expect(identity.agentsOf(tenantId)).toContain('marker'));
    const asked = identity.registered.filter(({ tenantId: of }) => of === tenantId).map(({ agentIds }) => agentIds);
    expect(asked).toEqual([['a', 'b'], ['marker']]);
  });

  it('wait for the RPC in flight, and are then registered in batches of 1000', async () => {
    const release = holdAnswers();
    registrar.seen(tenantId, 'first');
    await eventually(() => expect(identity.registered).toHaveLength(1));
    seeAll(tenantId, ['first', ...idsUpTo(1500)]);
    release();
    await eventually(() => expect(identity.agentsOf(tenantId)).toHaveLength(1501));
    expect(identity.registered.map(({ agentIds }) => agentIds.length)).toEqual([1, 1000, 500]);
    expect(identity.mostInFlight()).toBe(1);
  });

  it('are registered when they are seen again after identity failed, with one warning', async () => {
    identity.state.down = true;
    registrar.seen(tenantId, 'a');
    await eventually(() => expect(identity.registered).toHaveLength(1));
    registrar.seen(tenantId, 'b');
    await eventually(() => expect(identity.registered).toHaveLength(2));
    identity.state.down = false;
    await eventually(() => {
      registrar.seen(tenantId, 'a');
      registrar.seen(tenantId, 'b');
      expect(identity.agentsOf(tenantId)).toEqual(['a', 'b']);
    });
    expect(logs.lines().filter(({ msg }) => String(msg).includes('could not be registered'))).toHaveLength(1);
  });

  it('are 20,000 at most that wait, of all workspaces together', async () => {
    const other = newTenant();
    const release = holdAnswers();
    seeAll(tenantId, idsUpTo(20_000));
    registrar.seen(other, 'beyond');
    release();
    await eventually(() => expect(identity.agentsOf(tenantId)).toHaveLength(20_000));
    expect(identity.agentsOf(other)).toEqual([]);
    await eventually(() => {
      registrar.seen(other, 'beyond');
      expect(identity.agentsOf(other)).toEqual(['beyond']);
    });
  });
});
