import { promises as dns } from 'node:dns';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { identityRequests, identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { freePort } from '@tollkeeper/managed-process';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { createGrpcClient, type GrpcClient, LOOKUP_INTERVAL_MS } from './grpc-client.ts';
import { createGrpcServer, type GrpcServer } from './grpc-server.ts';
import { grpcService } from './grpc-service.ts';

const NAME = 'identity.stale.test';
const callerTokenSecret = 'a-caller-token-secret-of-enough-bytes';
const logger = createLogger({ service: 'test', level: 'silent' });

/** What the system's resolver returns for NAME, as stale as a cache may be. */
let known: string[];
let lookups: number;
let lastLookupAt: number;
let port: number;
let client: GrpcClient<IdentityServiceDefinition>;
let load: ReturnType<typeof keepCalling>;
const running = new Map<string, GrpcServer>();

beforeEach(async () => {
  port = await freePort();
  lookups = 0;
  const lookUp = async (): Promise<{ address: string; family: number }[]> => {
    lookups += 1;
    lastLookupAt = performance.now();
    return known.map((address) => ({ address, family: 4 }));
  };
  jest.spyOn(dns, 'lookup').mockImplementation(lookUp as never);
  client = createGrpcClient(identityService, `${NAME}:${port}`, {
    config: { CALLER_TOKEN_SECRET: callerTokenSecret },
    // A busy machine may take longer than services wait.
    deadlineMs: 60_000,
  });
});
afterEach(async () => {
  await load.stop();
  await client.stop();
  await Promise.all([...running.values()].map((server) => server.stop()));
  running.clear();
  jest.restoreAllMocks();
});

/** A replica that answers with its own address. */
async function start(address: string): Promise<void> {
  const server = createGrpcServer({
    config: { HOST: address, GRPC_PORT: port, CALLER_TOKEN_SECRET: callerTokenSecret },
    services: [
      grpcService(identityService, identityRequests, {
        resolveSession: async () => ({}),
        getWorkspace: async () => ({ workspace: { id: address, slug: '', name: '', timezone: '' } }),
        getAgents: async () => ({ agents: [] }),
        registerAgents: async () => ({}),
      }),
    ],
    logger,
    metrics: createMetrics('test'),
  });
  await server.start();
  running.set(address, server);
}

async function leave(address: string): Promise<void> {
  await running.get(address)?.stop();
  running.delete(address);
}

/** Calls in a loop. `seen` has the replicas that answered, and the errors. */
function keepCalling() {
  const seen: string[] = [];
  let stopped = false;
  const call = async (): Promise<string> => {
    const { workspace } = await client.getWorkspace({ tenantId: 'x' });
    return workspace?.id ?? 'nobody';
  };
  const calls = (async () => {
    while (!stopped) {
      seen.push(await call().catch((error: unknown) => String(error)));
      await immediate();
    }
  })();
  return {
    seen,
    async stop() {
      stopped = true;
      await calls;
    },
  };
}

describe('a client of a service whose replicas are replaced while the name is cached', () => {
  it.each([
    { before: ['127.0.0.2'], after: ['127.0.1.2'] },
    { before: ['127.0.0.2', '127.0.0.3', '127.0.0.4'], after: ['127.0.1.2', '127.0.1.3', '127.0.1.4'] },
  ])('fails no call, as long as one that the name has led to is there: $before', async ({ before, after }) => {
    known = before;
    for (const address of before) await start(address);
    load = keepCalling();
    await eventually(() => expect(new Set(load.seen)).toEqual(new Set(before)));

    for (const address of after) await start(address);
    // The cache drops the old answer, and the old replicas leave only later than clients look the name up again.
    known = after;
    await eventually(() => expect(performance.now() - lastLookupAt).toBeGreaterThan(LOOKUP_INTERVAL_MS));
    for (const address of before) await leave(address);
    await eventually(() => expect(new Set(load.seen.slice(-after.length))).toEqual(new Set(after)));
    await load.stop();
    expect(load.seen.filter((answer) => !before.concat(after).includes(answer))).toEqual([]);
  });

  it('asks for the name again and again while nothing listens there, but not at every call', async () => {
    known = ['127.0.0.2'];
    await start('127.0.0.2');
    load = keepCalling();
    await eventually(() => expect(load.seen).toContain('127.0.0.2'));
    await leave('127.0.0.2');
    await start('127.0.1.2');
    await eventually(() => expect(load.seen.filter((answer) => answer.includes('cannot be reached'))).not.toEqual([]));
    known = ['127.0.1.2'];
    await eventually(() => expect(load.seen.at(-1)).toBe('127.0.1.2'));
    await load.stop();
    expect(lookups).toBeLessThan(load.seen.length);
  });
});
