import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { createGrpcClient, type GrpcClient } from './grpc-client.ts';
import { createGrpcServer, type GrpcServer, type GrpcServerOptions, grpcService } from './grpc-server.ts';
import type { UnaryHandlers } from './unary.ts';

type Handlers = UnaryHandlers<IdentityServiceDefinition>;

const workspace = { id: 'ws_1', slug: 'demo', name: 'Demo', timezone: 'UTC' };
const lines: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => void lines.push(line) },
});
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  lines.length = 0;
});

function handlersWith(overrides: Partial<Handlers>): Handlers {
  return {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({ workspace }),
    getAgents: async () => ({ agents: [] }),
    ...overrides,
  };
}

function makeServer(overrides: Partial<Handlers> = {}, options: Partial<GrpcServerOptions> = {}): GrpcServer {
  const services = [grpcService(identityService, handlersWith(overrides))];
  const metrics = createMetrics('test');
  const server = createGrpcServer({ host: '127.0.0.1', port: 0, services, logger, metrics, ...options });
  cleanUps.push(() => server.stop());
  return server;
}

function connect(address: string, deadlineMs = 5000): GrpcClient<IdentityServiceDefinition> {
  const client = createGrpcClient(identityService, address, { peer: 'identity', deadlineMs });
  cleanUps.push(() => client.stop());
  return client;
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('gRPC between services', () => {
  it('brings a request and its answer over, absent messages as null and bytes as bytes', async () => {
    const seen: unknown[] = [];
    const server = makeServer({
      resolveSession: async (request) => {
        seen.push(request.sessionSha256);
        return {};
      },
    });
    await server.start();
    const client = connect(server.address);
    expect(await client.getWorkspace({ tenantId: 'ws_1' })).toEqual({ workspace });
    expect(await client.resolveSession({ sessionSha256: Buffer.from([0, 255]) })).toEqual({ session: null });
    expect(seen).toEqual([Buffer.from([0, 255])]);
  });

  it('brings an AppError over with its code, message and details', async () => {
    const details = [{ path: 'tenant_id', message: 'is required – ümlaut' }];
    const server = makeServer({
      getWorkspace: async () => {
        throw new AppError('not_found', 'There is no such workspace – ümlaut.', { details });
      },
    });
    await server.start();
    await expect(connect(server.address).getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no such workspace – ümlaut.',
      details,
    });
  });

  it('keeps an unexpected error to the log, where it stands with the request id of the caller', async () => {
    const server = makeServer({
      getWorkspace: async () => {
        throw new Error('connection string of the database');
      },
    });
    await server.start();
    const failure = connect(server.address).getWorkspace({ tenantId: 'x' }, { requestId: 'req_from-the-edge' });
    await expect(failure).rejects.toMatchObject({ code: 'internal', message: expect.not.stringContaining('database') });
    const line = lines.find((text) => text.includes('connection string of the database'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ request_id: 'req_from-the-edge', level: 'error' });
  });

  it('gives up at the deadline of the call', async () => {
    const server = makeServer({ getWorkspace: () => new Promise(() => undefined) }, { stopTimeoutMs: 1 });
    await server.start();
    const call = connect(server.address).getWorkspace({ tenantId: 'x' }, { deadlineMs: 50 });
    await expect(call).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterSeconds: 1 });
  });

  it('answers a call that was made before the server came up', async () => {
    const port = await freePort();
    const call = connect(`127.0.0.1:${port}`, 10_000).getWorkspace({ tenantId: 'x' });
    await delay(20);
    await makeServer({}, { port }).start();
    expect(await call).toEqual({ workspace });
  });

  it('tries again while the service says that it is unavailable', async () => {
    let attempts = 0;
    const server = makeServer({
      getWorkspace: async () => {
        attempts += 1;
        if (attempts < 3) throw new AppError('service_unavailable', 'The database is away.');
        return { workspace };
      },
    });
    await server.start();
    expect(await connect(server.address).getWorkspace({ tenantId: 'x' })).toEqual({ workspace });
    expect(attempts).toBe(3);
  });

  it('tries nothing again that failed for another reason', async () => {
    let attempts = 0;
    const server = makeServer({
      getWorkspace: async () => {
        attempts += 1;
        throw new Error('a bug');
      },
    });
    await server.start();
    await expect(connect(server.address).getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({ code: 'internal' });
    expect(attempts).toBe(1);
  });

  it('says service_unavailable when nobody listens', async () => {
    const client = connect(`127.0.0.1:${await freePort()}`);
    await expect(client.getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(client.ready()).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('finds a server again that was restarted', async () => {
    const port = await freePort();
    const first = makeServer({}, { port });
    await first.start();
    const client = connect(`127.0.0.1:${port}`, 10_000);
    await client.getWorkspace({ tenantId: 'x' });
    await first.stop();
    await makeServer({}, { port }).start();
    expect(await client.getWorkspace({ tenantId: 'x' })).toEqual({ workspace });
  });

  it('says through gRPC health whether the service can do its work, both ways', async () => {
    let usable = false;
    const ready = () => (usable ? Promise.resolve() : Promise.reject(new Error('no database')));
    const server = makeServer({}, { ready, healthIntervalMs: 5 });
    await server.start();
    const client = connect(server.address);
    await expect(client.ready()).rejects.toThrow('not serving');
    usable = true;
    await eventually(() => client.ready());
    usable = false;
    await eventually(() => expect(client.ready()).rejects.toThrow('not serving'));
  });

  it('lets a call under way finish on stop, and takes no new one', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = makeServer({
      getWorkspace: async () => {
        arrive();
        await release;
        return { workspace };
      },
    });
    await server.start();
    const call = connect(server.address).getWorkspace({ tenantId: 'x' });
    await arrived;
    const stopped = server.stop();
    resolve();
    expect(await call).toEqual({ workspace });
    await stopped;
    await expect(connect(server.address).getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('stops in bounded time though a call never ends', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = makeServer(
      {
        getWorkspace: () => {
          arrive();
          return new Promise(() => undefined);
        },
      },
      { stopTimeoutMs: 20 },
    );
    await server.start();
    const call = connect(server.address).getWorkspace({ tenantId: 'x' }, { deadlineMs: 60_000 });
    const failure = expect(call).rejects.toBeInstanceOf(AppError);
    await arrived;
    await server.stop();
    await failure;
  });

  it('names the address that it could not listen on', async () => {
    const first = makeServer();
    await first.start();
    const port = Number(first.address.split(':')[1]);
    await expect(makeServer({}, { port }).start()).rejects.toThrow(`127.0.0.1:${port}`);
  });

  it('counts and times every call by method and status', async () => {
    const metrics = createMetrics('test');
    const server = makeServer({}, { metrics });
    await server.start();
    await connect(server.address).getWorkspace({ tenantId: 'x' });
    const method = '/tollkeeper.identity.v1.IdentityService/GetWorkspace';
    expect(await metrics.registry.metrics()).toContain(
      `grpc_server_request_duration_seconds_count{service="test",method="${method}",code="OK"} 1`,
    );
  });
});
