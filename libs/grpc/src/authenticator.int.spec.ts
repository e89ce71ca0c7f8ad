import { afterEach, describe, expect, it } from '@jest/globals';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { identityRequests, identityService } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { createGrpcServer } from './grpc-server.ts';
import { grpcService, type RpcAuthenticator } from './grpc-service.ts';
import { createServiceTokens } from './service-token.ts';
import { fromStatus } from './status.ts';
import type { RpcContext } from './unary.ts';

interface Guest {
  name: string;
}

const config = { HOST: '127.0.0.1', GRPC_PORT: 0, CALLER_TOKEN_SECRET: 'a-caller-token-secret-of-enough-bytes' };
const SERVICE = 'tollkeeper.identity.v1.IdentityService';
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Accepts Ada, and refuses each other name differently. */
const doorman: RpcAuthenticator<Guest> = {
  async authenticate({ authorization }) {
    if (authorization === 'Bearer ada') return { name: 'ada' };
    if (authorization === 'Bearer zoe') return { name: 'zoe' };
    if (authorization === 'Bearer bob') throw new AppError('forbidden', 'Bob may not come in.');
    if (authorization === 'Bearer eve') throw new AppError('rate_limited', 'Too often.', { retryAfterSeconds: 7 });
    if (authorization === 'Bearer bug') throw new Error('connection string of the database');
    throw new AppError('unauthenticated', 'Name yourself.');
  },
  senderOf: ({ name }) => name,
};

/**
 * A server with `doorman`. `ask` calls it with the credentials `said` and returns the outcome, once `ready` resolves.
 */
async function serve(ready = Promise.resolve()) {
  const served: { caller: Guest; requestId: string }[] = [];
  const handlers = {
    resolveSession: async () => ({}),
    getWorkspace: async (_: unknown, { caller, requestId }: RpcContext<Guest>) => {
      served.push({ caller, requestId });
      await ready;
      return { workspace: { id: caller.name, slug: '', name: '', timezone: '' } };
    },
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
  };
  const metrics = createMetrics('test');
  const server = createGrpcServer({
    config,
    services: [grpcService(identityService, identityRequests, handlers, doorman)],
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics,
    maxRequestBytes: 1024,
  });
  await server.start();
  cleanUps.push(() => server.stop());
  const client = new Client(server.address, credentials.createInsecure());
  cleanUps.push(() => client.close());

  function ask(said: string | undefined, tenantId = 'ws_1'): Promise<string> {
    const { path, requestSerialize, responseDeserialize } = identityService.GetWorkspace;
    const metadata = new Metadata();
    if (said !== undefined) metadata.set('authorization', said);
    metadata.set('x-request-id', 'req_of-the-caller');
    return new Promise((resolve, reject) => {
      const answer = (error: ServiceError | null, response?: { workspace: { id: string } | null }): void =>
        error === null ? resolve(response?.workspace?.id ?? '') : reject(error);
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { tenantId }, metadata, answer);
    });
  }
  /** The status of a refusal, and the error that one of our clients makes of it. */
  async function refusal(said: string | undefined, tenantId?: string) {
    const error = await ask(said, tenantId).then(
      () => Promise.reject(new Error('the call was answered')),
      (refused: ServiceError) => refused,
    );
    const { code, message, retryAfterSeconds } = fromStatus(error, 'identity');
    return { status: status[error.code], code, message, retryAfterSeconds };
  }
  return { ask, refusal, served, metrics };
}

describe('a service with an authenticator of its own', () => {
  it('lets its handlers know who is calling', async () => {
    const { ask, served } = await serve();
    expect(await ask('Bearer ada')).toBe('ada');
    expect(served).toEqual([{ caller: { name: 'ada' }, requestId: 'req_of-the-caller' }]);
  });

  it.each([undefined, '', 'Bearer mallory'])('answers UNAUTHENTICATED with its sentence to %j', async (said) => {
    const { refusal, served } = await serve();
    expect(await refusal(said)).toMatchObject({
      status: 'UNAUTHENTICATED',
      code: 'unauthenticated',
      message: 'Name yourself.',
    });
    expect(served).toEqual([]);
  });

  it('answers UNAUTHENTICATED to the token of one of our services', async () => {
    const { refusal } = await serve();
    const token = await createServiceTokens(config.CALLER_TOKEN_SECRET, SERVICE)();
    expect(await refusal(token)).toMatchObject({ status: 'UNAUTHENTICATED' });
  });

  it('answers PERMISSION_DENIED to a caller that may not, and RESOURCE_EXHAUSTED with the time to wait', async () => {
    const { refusal, served } = await serve();
    expect(await refusal('Bearer bob')).toMatchObject({ status: 'PERMISSION_DENIED', code: 'forbidden' });
    const limited = { status: 'RESOURCE_EXHAUSTED', code: 'rate_limited', retryAfterSeconds: 7 };
    expect(await refusal('Bearer eve')).toMatchObject(limited);
    expect(served).toEqual([]);
  });

  it('says nothing of a request to whom it does not let in', async () => {
    const { refusal } = await serve();
    expect(await refusal('Bearer mallory', 'not an id')).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(await refusal('Bearer ada', 'not an id')).toMatchObject({ status: 'INVALID_ARGUMENT' });
  });

  it('keeps to itself why it failed, and counts the call as any other', async () => {
    const { refusal, metrics } = await serve();
    const failure = await refusal('Bearer bug');
    expect(failure).toMatchObject({ status: 'INTERNAL', message: expect.not.stringContaining('database') });
    expect(await metrics.registry.metrics()).toContain(
      `grpc_server_request_duration_seconds_count{service="test",method="/${SERVICE}/GetWorkspace",code="INTERNAL"} 1`,
    );
  });

  it('answers 256 calls of a caller at a time, and refuses more of it alone', async () => {
    let go = () => {};
    const { ask, refusal, served } = await serve(new Promise((resolve) => (go = resolve)));
    const inFlight = Array.from({ length: 256 }, () => ask('Bearer ada'));
    while (served.length < 256) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await refusal('Bearer ada')).toMatchObject({ status: 'RESOURCE_EXHAUSTED', code: 'rate_limited' });
    const other = ask('Bearer zoe');
    go();
    expect(await other).toBe('zoe');
    await Promise.all(inFlight);
    expect(await ask('Bearer ada')).toBe('ada');
  });

  it('reads no request beyond its largest', async () => {
    const { refusal, served } = await serve();
    expect(await refusal('Bearer ada', 'x'.repeat(1024))).toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
    expect(await refusal('Bearer ada', 'x'.repeat(1000))).toMatchObject({ status: 'INVALID_ARGUMENT' });
    expect(served).toEqual([]);
  });
});

it('handlers that need a caller and have no authenticator are an error of types', () => {
  const handlers = {
    resolveSession: async () => ({}),
    getWorkspace: async (_: unknown, { caller }: { caller: Guest }) => ({
      workspace: { id: caller.name, slug: '', name: '', timezone: '' },
    }),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
  };
  // @ts-expect-error nobody says who the caller is
  grpcService(identityService, identityRequests, handlers);
});
