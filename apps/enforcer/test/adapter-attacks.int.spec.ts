import { type ClientHttp2Session, connect } from 'node:http2';
import { afterEach, describe, expect, it } from '@jest/globals';
import { authorizationService, rateLimitService } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const AUTHZ = '/api/v1/adapters/authz';
const PORTKEY = '/api/v1/adapters/portkey';
const LITELLM = '/api/v1/adapters/litellm/beta/litellm_basic_guardrail_api';

const stack = useEnforcer(useMongo());
const { budgets } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

function limitedTo(micros: number) {
  const workspace = stack.newWorkspace();
  budgets.setWorkspace(workspace.tenantId, micros);
  return workspace;
}

/** Asks again while nothing can be decided, but without the wait. */
const decided = (workspace: Workspace, rpc: 'ShouldRateLimit' | 'Check', request: object) =>
  eventually(async () => {
    const answer = await workspace.rpc(rpc, request);
    if (answer['status'] !== 'UNAVAILABLE') return answer;
    stack.passRetryAfter();
    throw new Error(JSON.stringify(answer));
  });

const post = (workspace: Workspace, path: string, body: Body | string) =>
  eventually(async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': workspace.apiKey };
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await supertest(stack.httpUrl()).post(path).set(headers).send(sent);
    if (answer.status !== 503) return { status: answer.status, body: answer.body as Body };
    stack.passRetryAfter();
    throw new Error(answer.text);
  });

const reserve = (call = newId('req')) => ({
  domain: 'tollkeeper',
  descriptors: [
    {
      entries: Object.entries({ tollkeeper: 'reserve', agent: 'planner', call }).map(([key, value]) => ({
        key,
        value,
      })),
      hitsAddend: { value: 5 },
    },
  ],
});
const check = (more: Record<string, string> = {}) => ({
  attributes: { request: { http: { headers: { 'x-tollkeeper-agent': 'planner', ...more }, body: '' } } },
});

describe('half-open requests', () => {
  /** Announces a message of a thousand bytes, and sends none of it. */
  const BEGUN = Buffer.from([0, 0, 0, 3, 232]);
  const [CONNECTIONS, STREAMS] = [12, 100];
  /** Most requests that may be arriving at a server. */
  const ROOM = 1_000;
  const RESOURCE_EXHAUSTED = '8';

  const sessions: ClientHttp2Session[] = [];
  afterEach(() => sessions.splice(0).forEach((session) => session.destroy()));

  it.each([
    ['the rate limit service', rateLimitService.ShouldRateLimit.path],
    ['external authorization', authorizationService.Check.path],
  ])(
    'to %s, more than there is room for, are refused and keep no other workspace from its decisions',
    async (_, path) => {
      const neighbour = limitedTo(1_000);
      let refused = 0;
      for (let session = 0; session < CONNECTIONS; session += 1) {
        const connection = connect(`http://${stack.grpcAddress()}`).on('error', () => undefined);
        sessions.push(connection);
        for (let stream = 0; stream < STREAMS; stream += 1) {
          const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
          const request = connection.request(headers, { endStream: false }).on('error', () => undefined);
          request.on('response', ({ 'grpc-status': code }) => (refused += code === RESOURCE_EXHAUSTED ? 1 : 0));
          request.write(BEGUN);
        }
      }
      await eventually(async () => expect(refused).toBeGreaterThanOrEqual(CONNECTIONS * STREAMS - ROOM));
      for (let call = 0; call < 8; call += 1) {
        expect(await decided(neighbour, 'ShouldRateLimit', reserve())).toMatchObject({ overallCode: 'OK' });
      }
      const estimate = { 'x-tollkeeper-estimate-micros': '5' };
      expect(await decided(neighbour, 'Check', check(estimate))).toMatchObject({ status: { code: 0 } });
      await stack.posted();
      expect(await neighbour.limit()).toMatchObject({ held_micros: 9 * 5 });
    },
  );
});

describe('a request that is too large', () => {
  it('is refused by external authorization over HTTP, by the size that it may have', async () => {
    const { status, body } = await post(limitedTo(100), AUTHZ, ' '.repeat(64 * 1024 + 1));
    expect([status, body['error']]).toEqual([413, expect.stringContaining('Let the proxy send at most 64 KiB')]);
  });

  it('with 10,000 headers that are not ours is decided by ours', async () => {
    const workspace = limitedTo(1_000);
    const others = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'y']));
    const request = check({ ...others, 'x-tollkeeper-estimate-micros': '5' });
    expect(await decided(workspace, 'Check', request)).toMatchObject({ status: { code: 0 } });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 5 });
  });
});

describe('the key of another workspace', () => {
  const call = newId('req');
  const hook = (response: object) => ({
    request: { json: { model: 'gpt-4o', max_tokens: 400, messages: [] } },
    response,
    provider: 'openai',
    metadata: { agent: 'planner', call },
  });
  const usage = { prompt_tokens: 100, completion_tokens: 10 };

  it.each([
    ['a failed call', { json: {}, statusCode: 500 }],
    ['an answer', { json: { model: 'gpt-4o', usage }, statusCode: 200 }],
  ])('ends no call of Portkey by the id of the call: %s', async (_what, response) => {
    const [victim, other] = [limitedTo(1_000_000), limitedTo(1_000_000)];
    expect(await post(victim, `${PORTKEY}/before`, hook({}))).toMatchObject({ body: { verdict: true } });
    await stack.posted();
    const { held_micros: held } = await victim.limit();
    expect(held).toBeGreaterThan(4_000);
    await post(other, `${PORTKEY}/after`, hook(response));
    await stack.posted();
    expect(await victim.limit()).toMatchObject({ spent_micros: 0, held_micros: held });
  });

  it('reserves for itself by the id of a call of LiteLLM that another has reserved', async () => {
    const [victim, other] = [limitedTo(1_000_000), limitedTo(1)];
    const asked = { input_type: 'request', litellm_call_id: call, model: 'gpt-4o', texts: ['hello'], request_data: {} };
    expect((await post(victim, LITELLM, asked)).body).toEqual({ action: 'NONE' });
    expect((await post(other, LITELLM, asked)).body).toMatchObject({ action: 'BLOCKED' });
  });
});

describe('a body of a webhook of Portkey that cannot be read', () => {
  const deep = `{"request": {"json": ${'['.repeat(3_000)}${']'.repeat(3_000)}}}`;

  it.each([
    ['no JSON', '{"request": {', 'ends too early'],
    ['no object', '[]', 'is not JSON'],
    ['too many levels', deep, 'levels'],
  ])('(%s) denies the call, and ends none', async (_what, body, reason) => {
    const workspace = limitedTo(1_000_000);
    expect(await post(workspace, `${PORTKEY}/before`, body)).toMatchObject({
      body: { verdict: false, data: { reason: expect.stringContaining(reason) } },
    });
    const after = await post(workspace, `${PORTKEY}/after`, body);
    expect([after.status, after.body['error']]).toEqual([400, expect.stringContaining(reason)]);
  });
});
