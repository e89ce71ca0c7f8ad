import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from '@jest/globals';
import { identityRequests, identityService } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { freePort } from '@tollkeeper/managed-process';
import { createMetrics } from '@tollkeeper/runtime';
import { SignJWT } from 'jose';
import {
  callerTokenSecret,
  cleanUps,
  config,
  connect,
  handlersWith,
  healthOf,
  lines,
  makeServer,
  workspace,
} from '../test/identity.server.ts';
import { createGrpcClient } from './grpc-client.ts';
import { grpcService } from './grpc-service.ts';

/** A token for `audience`, signed with the secret of the services. */
async function tokenFor(audience: string): Promise<string> {
  const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setAudience(audience).setIssuedAt();
  return `Bearer ${await token.setExpirationTime('60s').sign(createSecretKey(Buffer.from(callerTokenSecret)))}`;
}

/** The status of a call with `said` instead of a token. */
function callBare(client: Client, said: string | undefined): Promise<status> {
  const { path, requestSerialize, responseDeserialize } = identityService.GetWorkspace;
  const metadata = new Metadata();
  if (said !== undefined) metadata.set('authorization', said);
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { tenantId: 'x' }, metadata, (error) =>
      resolve(error?.code ?? status.OK),
    );
  });
}

describe('gRPC between services', () => {
  it('brings a request and its answer over, absent messages as null and bytes as bytes', async () => {
    const digest = Buffer.alloc(32, Buffer.from([0, 255]));
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
    expect(await client.resolveSession({ sessionSha256: digest })).toEqual({ session: null });
    expect(seen).toEqual([digest]);
  });

  it('answers no one without the secret of the services, but says to all whether it is healthy', async () => {
    let answered = 0;
    const server = makeServer({
      getWorkspace: async () => {
        answered += 1;
        return { workspace };
      },
    });
    await server.start();
    const stranger = connect(server.address, 5000, 'another-secret-of-more-than-32-bytes');
    // Not `unauthenticated`: the user whose request led to the call is still signed in.
    await expect(stranger.getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({
      code: 'internal',
      cause: { code: status.UNAUTHENTICATED, details: expect.stringContaining('CALLER_TOKEN_SECRET') },
    });
    const bare = new Client(server.address, credentials.createInsecure());
    cleanUps.push(async () => bare.close());
    const forOthers = [
      'tollkeeper',
      'tollkeeper:identity',
      'tollkeeper-grpc',
      'tollkeeper-grpc:tollkeeper.keys.v1.Keys',
    ];
    const tokens = await Promise.all(forOthers.map(tokenFor));
    for (const said of [undefined, '', 'Bearer', 'Bearer x.y.z', ...tokens]) {
      expect(await callBare(bare, said)).toBe(status.UNAUTHENTICATED);
    }
    expect(answered).toBe(0);
    expect(await callBare(bare, await tokenFor('tollkeeper-grpc:tollkeeper.identity.v1.IdentityService'))).toBe(
      status.OK,
    );
    expect(await healthOf(server.address)).toBe('SERVING');
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

  it('refuses what the schema of an RPC refuses, with every problem under the name that its proto file gives', async () => {
    const asked: unknown[] = [];
    const server = makeServer({
      getAgents: async (request) => {
        asked.push(request);
        return { agents: [] };
      },
    });
    await server.start();
    const client = connect(server.address);
    const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -';
    await expect(client.getAgents({ tenantId: '', agentIds: ['a', '$'] })).rejects.toMatchObject({
      code: 'invalid_request',
      cause: { code: status.INVALID_ARGUMENT },
      details: [
        { path: 'tenant_id', message },
        { path: 'agent_ids[1]', message },
      ],
    });
    // The largest possible error fits into the limits of a client.
    const worst = await client.getAgents({ tenantId: '', agentIds: Array<string>(1000).fill('$') }).catch(String);
    expect(worst).toContain('The request has 1001 problems; details lists 100 of them.');
    expect(asked).toEqual([]);
  });

  it('takes no service of which an RPC or a field of a request has no schema: that is an error of types', () => {
    const { resolveSession, getWorkspace } = identityRequests;
    // @ts-expect-error getAgents has no schema
    grpcService(identityService, { resolveSession, getWorkspace }, handlersWith({}));
    // @ts-expect-error the schema of getAgents leaves agentIds out
    grpcService(identityService, { ...identityRequests, getAgents: getWorkspace }, handlersWith({}));
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
    await makeServer({}, { config: { ...config, GRPC_PORT: port } }).start();
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

  it('says service_unavailable when nothing listens', async () => {
    const client = connect(`127.0.0.1:${await freePort()}`);
    await expect(client.getWorkspace({ tenantId: 'x' })).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('says service_unavailable, too, when somebody listens who is not up yet', async () => {
    const sockets: Socket[] = [];
    const starting = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(starting, 'listening');
    const { port } = starting.address() as AddressInfo;
    const call = connect(`127.0.0.1:${port}`).getWorkspace({ tenantId: 'x' }, { deadlineMs: 100 });
    await expect(call).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
    for (const socket of sockets) socket.destroy();
    starting.close();
  });

  it('finds a server again that was restarted', async () => {
    const port = await freePort();
    const first = makeServer({}, { config: { ...config, GRPC_PORT: port } });
    await first.start();
    const client = connect(`127.0.0.1:${port}`, 10_000);
    await client.getWorkspace({ tenantId: 'x' });
    await first.stop();
    await makeServer({}, { config: { ...config, GRPC_PORT: port } }).start();
    expect(await client.getWorkspace({ tenantId: 'x' })).toEqual({ workspace });
  });

  it('counts and times every call by method and status, on both sides', async () => {
    const metrics = createMetrics('test');
    const server = makeServer({}, { metrics });
    await server.start();
    const options = { config, metrics };
    const clients = [1, 2].map(() => createGrpcClient(identityService, server.address, options));
    for (const client of clients) {
      cleanUps.push(() => client.stop());
      await client.getWorkspace({ tenantId: 'x' });
    }
    await healthOf(server.address);
    const method = '/tollkeeper.identity.v1.IdentityService/GetWorkspace';
    const served = await metrics.registry.metrics();
    for (const side of ['server', 'client']) {
      const series = `grpc_${side}_request_duration_seconds_count{service="test",method="${method}",code="OK"} 2`;
      expect(served).toContain(series);
    }
    expect(served).not.toContain('Health');
  });
});
