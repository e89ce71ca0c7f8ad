import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  accessLogEntry,
  accessLogService,
  authorizationService,
  mintWorkspaceKey,
  rateLimitService,
} from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import { reservationIdOf } from '../src/domain/journal.ts';
import { type Body, useEnforcer } from './enforcer.stack.ts';
import { commonOf, deepEntry, entryOf, messageOf, POST, sendRawLog } from './raw.access.log.ts';

const AUTHZ = '/api/v1/adapters/authz';
const PORTKEY = '/api/v1/adapters/portkey';
const LITELLM = '/api/v1/adapters/litellm/beta/litellm_basic_guardrail_api';

const stack = useEnforcer(useMongo());
const { limitedTo } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

/** Asks again while nothing can be decided, but without the wait. */
const decided = (workspace: Workspace, rpc: 'ShouldRateLimit' | 'Check', request: object) =>
  eventually(async () => {
    const answer = await workspace.rpc(rpc, request);
    if (answer['status'] !== 'UNAVAILABLE') return answer;
    stack.passRetryAfter();
    throw new Error(JSON.stringify(answer));
  });

const post = (workspace: Workspace, path: string, body: Body | string, more: Record<string, string> = {}) =>
  eventually(async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': workspace.apiKey, ...more };
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

/** How often streams of access logs ended with the status. */
const endedStreams = (code: string) => stack.counted('grpc_server_streams_total', code);
/** The reasons of the log lines with these words. */
const reasonsOf = (words: string) =>
  stack.logs.lines().flatMap(({ msg, reason }) => (String(msg).includes(words) ? [String(reason)] : []));

describe('half-open requests', () => {
  /** Announces a message of a thousand bytes, and sends none of it. */
  const BEGUN = Buffer.from([0, 0, 0, 3, 232]);
  const [CONNECTIONS, STREAMS] = [12, 100];
  /** Most requests that may be arriving at a server. */
  const ROOM = 1_000;
  const [RESOURCE_EXHAUSTED, UNAUTHENTICATED] = ['8', '16'];

  const sessions: ClientHttp2Session[] = [];
  afterEach(() => sessions.splice(0).forEach((session) => session.destroy()));

  /** Begins more requests than there is room for. */
  function beginAll(path: string, onRequest: (request: ClientHttp2Stream) => void, more = {}): void {
    for (let session = 0; session < CONNECTIONS; session += 1) {
      const connection = connect(`http://${stack.grpcAddress()}`).on('error', () => undefined);
      sessions.push(connection);
      for (let stream = 0; stream < STREAMS; stream += 1) {
        const request = connection
          .request({ ...POST, ':path': path, ...more }, { endStream: false })
          .on('error', () => undefined);
        onRequest(request);
        request.write(BEGUN);
      }
    }
  }

  it('of access logs, more than there is room for, are cut off and keep no other workspace from its reports', async () => {
    const neighbour = limitedTo(1_000);
    let closed = 0;
    beginAll(accessLogService.StreamAccessLogs.path, (request) => request.on('close', () => (closed += 1)));
    await eventually(async () => expect(closed).toBeGreaterThanOrEqual(CONNECTIONS * STREAMS - ROOM));
    const call = newId('req');
    expect(await decided(neighbour, 'ShouldRateLimit', reserve(call))).toMatchObject({ overallCode: 'OK' });
    const { send, stream, ended } = neighbour.openLog();
    send([entryOf(call)]);
    stream.end();
    expect(await ended).toBe('OK');
    await stack.posted();
    expect(await neighbour.limit()).toMatchObject({ held_micros: 0, spent_micros: 5 });
  });

  it('of access logs with a key of nobody are refused before anything of them arrived, counted and logged', async () => {
    const before = await endedStreams('UNAUTHENTICATED');
    let refused = 0;
    const onRequest = (request: ClientHttp2Stream) =>
      request.on('response', ({ 'grpc-status': code }) => (refused += code === UNAUTHENTICATED ? 1 : 0));
    const { apiKey } = mintWorkspaceKey();
    beginAll(accessLogService.StreamAccessLogs.path, onRequest, { authorization: `Bearer ${apiKey}` });
    await eventually(async () => {
      expect(refused).toBeGreaterThanOrEqual(ROOM);
      expect((await endedStreams('UNAUTHENTICATED')) - before).toBe(refused);
    });
    // Once a minute, of whichever came first.
    const [reason] = reasonsOf('set a valid key at its sender');
    expect(reason).toMatch(/This workspace key is unknown or revoked|no authorization in its metadata/);
  });

  it.each([
    ['the rate limit service', rateLimitService.ShouldRateLimit.path],
    ['external authorization', authorizationService.Check.path],
  ])(
    'to %s, more than there is room for, are refused and keep no other workspace from its decisions',
    async (_, path) => {
      const neighbour = limitedTo(1_000);
      let refused = 0;
      beginAll(path, (request) => {
        request.on('response', ({ 'grpc-status': code }) => (refused += code === RESOURCE_EXHAUSTED ? 1 : 0));
      });
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

describe('a call that asks for more tokens than any model has', () => {
  const MOST = Number.MAX_SAFE_INTEGER;
  const asked = JSON.stringify({ model: 'gpt-4o', max_tokens: MOST, n: MOST });
  const overHttp = { authorization: 'Bearer sk-of-the-model', 'x-tollkeeper-agent': 'planner' };

  it('is denied by each adapter, and not held like one of which nothing is known', async () => {
    const workspace = limitedTo(1_000_000);
    const authz = await post(workspace, AUTHZ, asked, overHttp);
    const checked = { attributes: { request: { http: { headers: { 'x-tollkeeper-agent': 'a' }, body: asked } } } };
    const hook = { request: { json: JSON.parse(asked) as Body }, metadata: { agent: 'planner', call: newId('req') } };
    const entries = { tollkeeper: 'reserve', agent: 'planner', call: newId('req'), model: 'gpt-4o', unit: 'tokens' };
    const described = { entries: Object.entries(entries).map(([key, value]) => ({ key, value })) };
    const answers = [
      authz.status,
      await decided(workspace, 'Check', checked),
      (await post(workspace, `${PORTKEY}/before`, hook)).body,
      await decided(workspace, 'ShouldRateLimit', { descriptors: [{ ...described, hitsAddend: { value: MOST } }] }),
    ];
    expect(answers).toMatchObject([429, { status: { code: 8 } }, { verdict: false }, { overallCode: 'OVER_LIMIT' }]);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, spent_micros: 0 });
  });

  it('or for none is held by Portkey at its longest answer', async () => {
    const workspace = limitedTo(1_000_000);
    const json = { model: 'gpt-4o', max_tokens: 0, max_completion_tokens: 10_000 };
    await post(workspace, `${PORTKEY}/before`, { request: { json }, metadata: { call: newId('req') } });
    await stack.posted();
    expect((await workspace.limit())['held_micros']).toBeGreaterThan(100_000);
  });
});

describe('a report of more tokens than any call has', () => {
  const MOST = Number.MAX_SAFE_INTEGER;

  it.each([
    { input_tokens: MOST, cache_creation_input_tokens: MOST },
    { prompt_tokens: MOST, completion_tokens: MOST },
    { prompt_tokens: 1e300, completion_tokens: -1 },
  ])('is settled by Portkey at what was held: %j', async (usage) => {
    const workspace = limitedTo(1_000_000);
    const call = { request: { json: { model: 'gpt-4o', max_tokens: 1 } }, metadata: { call: newId('req') } };
    await post(workspace, `${PORTKEY}/before`, call);
    await stack.posted();
    const { held_micros: held } = await workspace.limit();
    const response = { statusCode: 200, json: { model: 'gpt-4o', usage } };
    expect((await post(workspace, `${PORTKEY}/after`, { ...call, response })).status).toBe(200);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, spent_micros: held });
    const reported = workspace.events('spend.settled').flatMap(({ data }) => Object.keys(data));
    expect(reported.filter((name) => name.endsWith('_tokens'))).toEqual([]);
  });
});

it('a name that is too long for a model is left out of a call of LiteLLM, so that its spend is reported', async () => {
  const workspace = limitedTo(1_000_000);
  const call = newId('req');
  const asked = { input_type: 'request', litellm_call_id: call, model: 'm'.repeat(200), texts: [], request_data: {} };
  expect((await post(workspace, LITELLM, asked)).body).toEqual({ action: 'NONE' });
  await workspace.settle(reservationIdOf(workspace.tenantId, `call:${call}`), 5);
  await stack.posted();
  expect(await workspace.limit()).toMatchObject({ spent_micros: 5 });
  expect(workspace.events('spend.settled')).toHaveLength(1);
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

describe('a message of an access log', () => {
  /** Reserves a call. */
  async function reserved(workspace: Workspace): Promise<string> {
    const call = newId('req');
    expect(await decided(workspace, 'ShouldRateLimit', reserve(call))).toMatchObject({ overallCode: 'OK' });
    return call;
  }
  /** A neighbour whose report is taken, whatever else is. */
  async function neighbourIsTaken(): Promise<void> {
    const neighbour = limitedTo(1_000);
    const call = await reserved(neighbour);
    const { send, stream, ended } = neighbour.openLog();
    send([entryOf(call)]);
    stream.end();
    expect(await ended).toBe('OK');
  }
  const setAside = () => stack.counted('enforcer_access_log_entries_total', 'set_aside');

  it('with 10,000 entries is taken up to the most, and the others are set aside', async () => {
    const workspace = limitedTo(1_000);
    const [before, call] = [await setAside(), await reserved(workspace)];
    const { send, stream, ended } = workspace.openLog();
    const nameless = { request: { requestHeaders: { 'x-tollkeeper-agent': 'a' } } };
    send([entryOf(call), ...Array<typeof nameless>(9_999).fill(nameless)]);
    await neighbourIsTaken();
    stream.end();
    expect(await ended).toBe('OK');
    expect((await setAside()) - before).toBe(9_999);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, spent_micros: 5 });
  });

  it('ends no call of another workspace whose reservation it names, and reads no number that is none', async () => {
    const [victim, other] = [limitedTo(1_000), limitedTo(1_000)];
    const call = newId('req');
    const { dynamicMetadata } = await decided(victim, 'ShouldRateLimit', reserve(call));
    const { send, stream, ended } = other.openLog();
    const asked = { 'envoy.filters.http.ext_authz': dynamicMetadata as { fields: Record<string, object> } };
    const named = (numbers: number[]) =>
      numbers.map((numberValue, index) => ({
        ...entryOf(`${call}${index === 0 ? '' : index}`),
        commonProperties: commonOf({ micros: { numberValue } }, asked),
      }));
    send(named([7, NaN, Infinity, -3, 1e308, 0.5]));
    stream.end();
    expect(await ended).toBe('OK');
    await stack.posted();
    expect(await victim.limit()).toMatchObject({ held_micros: 5, spent_micros: 0 });
    expect(await other.limit()).toMatchObject({ held_micros: 0, spent_micros: 7 });
  });

  it('of 400 kB ends its stream, is counted and logged with what helps, and another one goes on', async () => {
    const before = await endedStreams('RESOURCE_EXHAUSTED');
    const { send, ended } = limitedTo(1_000).openLog();
    send([entryOf(newId('req'), { 'x-tollkeeper-agent': 'planner', 'x-tollkeeper-run': 'r'.repeat(400_000) })]);
    expect(await ended).toBe('RESOURCE_EXHAUSTED');
    await neighbourIsTaken();
    await eventually(async () => expect((await endedStreams('RESOURCE_EXHAUSTED')) - before).toBe(1));
    expect(reasonsOf('let its sender send smaller ones')).toContainEqual(expect.stringContaining('larger than max'));
  });

  it.each([
    ['an entry of 70 kB', Buffer.alloc(70_000)],
    ['an entry with metadata of 30,000 levels', deepEntry(30_000)],
    ['an entry that is none', Buffer.from('tollkeeper')],
  ])('with %s sets that aside, and takes the next one', async (_what, wrong) => {
    const workspace = limitedTo(1_000);
    const [before, call] = [await setAside(), await reserved(workspace)];
    const message = messageOf(wrong, accessLogEntry.serialize(entryOf(call)));
    expect(await sendRawLog(stack.grpcAddress(), workspace.apiKey, message)).toBe('0');
    expect((await setAside()) - before).toBe(1);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, spent_micros: 5 });
  });

  it('that is none ends its stream, and the log says what helps', async () => {
    expect(await sendRawLog(stack.grpcAddress(), limitedTo(1_000).apiKey, Buffer.from([0xff]))).toBe('3');
    const reason = expect.stringContaining('no StreamAccessLogsMessage of Envoy');
    await eventually(async () => expect(reasonsOf('check what its sender sends')).toContainEqual(reason));
    await neighbourIsTaken();
  });

  it('waits while its workspace has sent too many bytes, and is neither lost nor in the way of a neighbour', async () => {
    const eve = limitedTo(1_000);
    const [streams, messages, entries] = [4, 11, 1_000];
    // Each is about no call, and has 210 bytes: all together 9.3 MB, more than may be taken at once.
    const message = Array<object>(entries).fill({ request: { requestId: 'x'.repeat(200) } });
    const counted = () => stack.counted('enforcer_access_log_entries_total');
    const before = await counted();
    const flood = Array.from({ length: streams }, () => eve.openLog());
    for (const { send, stream } of flood) {
      for (let sent = 0; sent < messages; sent += 1) send(message);
      stream.end();
    }
    const waits = () => stack.counted('enforcer_requests_over_quota_total', 'report_bytes');
    await eventually(async () => expect(await waits()).toBeGreaterThan(0));
    await neighbourIsTaken();
    // The clock of the quota is stopped.
    expect((await counted()) - before).toBeLessThan(streams * messages * entries);
    stack.passRetryAfter(5);
    expect(await Promise.all(flood.map(({ ended }) => ended))).toEqual(Array(streams).fill('OK'));
    expect((await counted()) - before).toBe(streams * messages * entries + 1);
  });

  it('is set aside if too much of its workspace waits in memory, and the log says why', async () => {
    stack.passRetryAfter(61);
    const eve = limitedTo(1_000);
    const before = await setAside();
    const { promise: stalled, resolve: proceed } = Promise.withResolvers<void>();
    stack.log.stalls.set(eve.tenantId, stalled);
    const answered = { ...entryOf(newId('req')), commonProperties: commonOf({ micros: { numberValue: 7 } }) };
    const long = Array<object>(999).fill({ request: { requestId: 'x'.repeat(250) } });
    const flood = Array.from({ length: 40 }, () => eve.openLog());
    for (const { send } of flood) send([answered, ...long]);
    await eventually(async () => expect(await setAside()).toBeGreaterThan(before));
    await neighbourIsTaken();
    stack.log.stalls.delete(eve.tenantId);
    stack.passRetryAfter(5);
    proceed();
    for (const { stream } of flood) stream.end();
    expect(await Promise.all(flood.map(({ ended }) => ended))).toEqual(Array(40).fill('OK'));
    const errors = stack.logs.lines().filter(({ tenant_id: id }) => id === eve.tenantId);
    expect(JSON.stringify(errors)).toContain('Too much of the access logs of the workspace waits');
  });
});
