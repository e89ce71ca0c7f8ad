import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { expectMatchesOpenApi, type OpenApiDocument, useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import { reservationIdOf } from '../src/domain/journal.ts';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const LITELLM = '/api/v1/adapters/litellm/beta/litellm_basic_guardrail_api';
const BEFORE = '/api/v1/adapters/portkey/before';
const AFTER = '/api/v1/adapters/portkey/after';
/** In every prompt of the recorded bodies. */
const PROMPT = 'PROMPTTEXT';

/** Names the limit, and how to ask for more. */
const DENIED =
  /^The workspace has spent .* of its daily budget .*\(POST \/api\/v1\/raise-requests with budget_id bud_workspace\)/;

const mongo = useMongo();
const stack = useEnforcer(mongo);
const { budgets, limitedTo } = stack;
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await supertest(stack.httpUrl()).get('/openapi.json')).body as OpenApiDocument;
});

type Workspace = ReturnType<typeof stack.newWorkspace>;

const recorded = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', `${file}.json`), 'utf8')) as Body;

/** Posts as the gateway does, once more after a 503. */
async function post(workspace: Workspace, path: string, body: Body | string, headers: Record<string, string> = {}) {
  const send = () =>
    supertest(stack.httpUrl())
      .post(path)
      .set({ 'content-type': 'application/json', 'x-api-key': workspace.apiKey, ...headers })
      .send(typeof body === 'string' ? body : JSON.stringify(body));
  let answer = await send();
  for (let tries = 0; answer.status === 503 && tries < 20; tries += 1) {
    stack.passRetryAfter();
    answer = await send();
  }
  const [route] = path.split('?');
  const { status } = answer;
  expectMatchesOpenApi(document, { method: 'POST', path: route!, status, body: answer.body as Body });
  return { status, body: answer.body as Body };
}

/** All that the service stores, writes and logs of a workspace. */
async function written(workspace: Workspace): Promise<string> {
  const database = mongo.connection.getClient().db(stack.database);
  const collections = await database.collections();
  const documents = await Promise.all(collections.map((one) => one.find().toArray()));
  return JSON.stringify([documents, workspace.events(), stack.logs.text()]);
}

describe('the guardrail of LiteLLM', () => {
  const request = recorded('litellm-1.106.2-guardrail-request');
  const asked = (more: Body = {}): Body => ({ ...request, litellm_call_id: newId('req'), ...more });
  const ask = (workspace: Workspace, body: Body | string = asked(), headers?: Record<string, string>) =>
    post(workspace, LITELLM, body, headers);
  const reservationOf = (workspace: Workspace, { litellm_call_id: id }: Body) =>
    workspace.read(reservationIdOf(workspace.tenantId, `call:${String(id)}`));

  it('reserves the longest answer and the texts, for the agent, the run and the labels of the callback', async () => {
    const workspace = limitedTo(100_000);
    expect(await ask(workspace, request)).toEqual({ status: 200, body: { action: 'NONE' } });
    expect(await reservationOf(workspace, request)).toMatchObject({
      ...{ state: 'held', request_id: 'call:71cb5baf-4a13-4d6e-92e1-61125e9b47c8', model: 'gpt-4o' },
      ...{ agent_id: 'research-agent', run_id: 'run-77', labels: { user: 'end-user-5', team: 'platform' } },
      // 4,096 tokens of output, and one of input for two of the 28 bytes of texts and tools.
      amount_micros: 40_960 + 35,
    });
    // LiteLLM asks again, as after a lost answer.
    expect((await ask(workspace, request)).body).toEqual({ action: 'NONE' });
    expect(await workspace.limit()).toMatchObject({ held_micros: 40_995, open_reservations: 1 });
    expect(await written(workspace)).not.toContain(PROMPT);
  });

  it('is settled by the report of the call, and allows no other call with its id', async () => {
    const workspace = limitedTo(100_000);
    await ask(workspace, request);
    await workspace.spend({ amount_micros: 5_170, request_id: `call:${String(request['litellm_call_id'])}` });
    await stack.posted();
    expect(await reservationOf(workspace, request)).toMatchObject({ state: 'settled', settled_micros: 5_170 });
    const { body } = await ask(workspace, request);
    expect(body).toMatchObject({ action: 'BLOCKED', blocked_reason: expect.stringContaining('already settled') });
  });

  it('denies a call with the sentence of its limit, which dashboards know, and holds the budget among many', async () => {
    const workspace = limitedTo(3 * 40_995);
    const answers = await Promise.all(Array.from({ length: 32 }, () => ask(workspace)));
    const blocked = answers.filter(({ body }) => body['action'] === 'BLOCKED');
    expect([answers.length - blocked.length, new Set(answers.map(({ status }) => status))]).toEqual([
      3,
      new Set([200]),
    ]);
    expect(blocked[0]!.body['blocked_reason']).toMatch(DENIED);
    expect(await workspace.limit()).toMatchObject({ held_micros: 3 * 40_995, remaining_micros: 0 });
    expect(workspace.events('budget.blocked')[0]).toMatchObject({ data: { agent_id: 'research-agent' } });
  });

  it('does not read answers of models', async () => {
    const workspace = limitedTo(0);
    const none = { status: 200, body: { action: 'NONE' } };
    expect(await ask(workspace, recorded('litellm-1.106.2-guardrail-response'))).toEqual(none);
    expect(await ask(workspace, '{"input_type":"response","texts":["cut off')).toEqual(none);
  });

  it('takes settings of the operator, and blocks calls with wrong ones by their names', async () => {
    const workspace = limitedTo(1_000_000);
    const amountWith = async (settings: Body, model = 'gpt-4o') => {
      const body = asked({ model, texts: [], additional_provider_specific_params: settings });
      const answer = (await ask(workspace, body)).body;
      if (answer['action'] === 'BLOCKED') return answer['blocked_reason'];
      const { amount_micros: amount, created_at: at, expires_at: end } = await reservationOf(workspace, body);
      return [amount, Date.parse(String(end)) - Date.parse(String(at))];
    };
    expect(await amountWith({ max_output_tokens: 100, ttl_seconds: '60' })).toEqual([1_013, 60_000]);
    expect(await amountWith({ unpriced_micros: 700 }, 'house-1')).toEqual([700, 600_000]);
    expect(await amountWith({}, 'house-1')).toEqual([50_000, 600_000]);
    expect(await amountWith({ ttl_seconds: 5 })).toContain('additional_provider_specific_params.ttl_seconds');
    budgets.setPrices(workspace.tenantId, {
      id: 'price_1',
      model: 'house-1',
      validFrom: 0,
      input: 0,
      output: 1_000_000,
    });
    stack.passRetryAfter(10);
    expect(await amountWith({ max_output_tokens: 10 }, 'house-1')).toEqual([10, 600_000]);
  });

  it('knows the agent by the rules of the callback: header, mapping of the key, alias, header of the caller', async () => {
    const agentOf = async (workspace: Workspace, body: Body, headers?: Record<string, string>) => {
      await ask(workspace, body, headers);
      return (await reservationOf(workspace, body))['agent_id'];
    };
    const said = { 'x-tollkeeper-agent': 'of caller' };
    const withoutAlias = { request_data: {}, request_headers: { ...said, 'x-tollkeeper-run': '[present]' } };
    const workspace = stack.newWorkspace();
    expect(await agentOf(workspace, asked(withoutAlias), { 'x-tollkeeper-agent': 'of-proxy' })).toBe('of-proxy');
    expect(await agentOf(workspace, asked({ request_headers: said }))).toBe('research-agent');
    expect(await agentOf(workspace, asked(withoutAlias))).toBe('of-caller');
    expect(await agentOf(workspace, asked({ request_data: {}, request_headers: null }))).toBe('unknown');
    const mapped = stack.newWorkspace({}, { agent: 'metadata.user_api_key_team_alias' });
    expect(await agentOf(mapped, asked({ request_headers: said }))).toBe('platform');
  });

  it.each([
    ['no JSON', '{"texts": [', 'ends too early'],
    ['no object', '[]', 'is not JSON'],
    ['too many levels', `{"texts": ${'['.repeat(3_000)}${']'.repeat(3_000)}}`, 'levels'],
    ['no id of the call', JSON.stringify({ ...request, litellm_call_id: null }), 'litellm_call_id'],
  ])('blocks a call whose body has %s, without any text of it', async (_what, body, reason) => {
    const workspace = stack.newWorkspace();
    const answer = (await ask(workspace, body)).body;
    expect(answer).toMatchObject({ action: 'BLOCKED', blocked_reason: expect.stringContaining(reason) });
    expect(JSON.stringify(answer)).not.toContain(PROMPT);
  });

  it('refuses bodies over 8 MiB, keys that may not write, and keys of nobody', async () => {
    const workspace = stack.newWorkspace();
    const texts = ['x'.repeat(8 * 1024 * 1024)];
    expect((await ask(workspace, asked({ texts }))).status).toBe(413);
    expect((await ask(workspace, asked(), { 'x-api-key': 'ws_live_x.y' })).status).toBe(401);
    expect((await ask(workspace, asked({ texts: ['x'.repeat(4 * 1024 * 1024)] }))).body).toEqual({ action: 'NONE' });
  });
});

describe('the webhooks of Portkey', () => {
  const before = recorded('portkey-1.15.2-webhook-before');
  const after = recorded('portkey-1.15.2-webhook-after');
  const stream = recorded('portkey-1.15.2-webhook-after-stream');
  const bearer = ({ apiKey }: Workspace) => ({ authorization: `Bearer ${apiKey}` });
  const send = (workspace: Workspace, path: string, body: Body) => post(workspace, path, body, bearer(workspace));
  const named = (body: Body, call: string): Body => ({ ...body, metadata: { ...(body['metadata'] as Body), call } });
  const reservationOf = (workspace: Workspace, call = 'call-1') =>
    workspace.read(reservationIdOf(workspace.tenantId, `call:${call}`));
  const requestBytes = JSON.stringify((before['request'] as Body)['json']).length;
  const HELD = 4_000 + Math.ceil(requestBytes / 2) * 2.5;
  const GO = { status: 200, body: { verdict: true } };

  it('reserve before a call, and settle the price of its tokens after it, however often they come', async () => {
    const workspace = limitedTo(100_000);
    for (let i = 0; i < 2; i += 1) expect(await send(workspace, BEFORE, before)).toEqual(GO);
    expect(await reservationOf(workspace)).toMatchObject({
      ...{
        state: 'held',
        agent_id: 'research-agent',
        run_id: 'run-7',
        provider: 'openai',
        labels: { user: 'user-42' },
      },
      amount_micros: HELD,
    });
    for (let i = 0; i < 2; i += 1) expect(await send(workspace, AFTER, after)).toEqual(GO);
    expect(await reservationOf(workspace)).toMatchObject({ state: 'settled', settled_micros: 5_170 });
    await stack.posted();
    const overspend = { above_hold: 5_170 - HELD, late: 0, unreserved: 0 };
    expect(await workspace.limit()).toMatchObject({ spent_micros: 5_170, held_micros: 0, overspend_micros: overspend });
    expect(workspace.events('spend.settled')).toMatchObject([
      { data: { model: 'gpt-4o-2026-08-06', settlement_id: expect.stringMatching(/^rsp:/), input_tokens: 1_200 } },
    ]);
    expect(await send(workspace, BEFORE, before)).toMatchObject({ body: { verdict: false } });
    expect(await written(workspace)).not.toContain(PROMPT);
  });

  it('settle a stream at what was reserved for it, and release the reservation of a call that failed', async () => {
    const workspace = limitedTo(100_000);
    const failed = { ...stream, response: { json: { error: {} }, text: '', statusCode: 500 } };
    for (const call of ['stream', 'failed']) await send(workspace, BEFORE, named(before, call));
    await send(workspace, AFTER, named(stream, 'stream'));
    await send(workspace, AFTER, named(failed, 'failed'));
    expect(await reservationOf(workspace, 'stream')).toMatchObject({ state: 'settled', settled_micros: HELD });
    expect(await reservationOf(workspace, 'failed')).toMatchObject({ state: 'released' });
  });

  it('deny a call over its budget, and one without an id, with the reason', async () => {
    const workspace = limitedTo(2 * HELD);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, call) => send(workspace, BEFORE, named(before, `${call}`))),
    );
    expect(answers.filter(({ body }) => body['verdict'] === true)).toHaveLength(2);
    expect(answers.find(({ body }) => body['verdict'] === false)?.body).toEqual({
      verdict: false,
      data: { reason: expect.stringMatching(DENIED) },
    });
    const unnamed = { ...before, metadata: { agent: 'research-agent' } };
    expect(await send(workspace, BEFORE, unnamed)).toMatchObject({
      body: { verdict: false, data: { reason: expect.stringContaining('x-portkey-metadata') } },
    });
    expect(await send(workspace, AFTER, { ...after, metadata: {} })).toEqual(GO);
  });

  it('take the settings of the operator from the address', async () => {
    const workspace = limitedTo(1_000_000);
    const request = { json: { model: 'gpt-4o', messages: [], n: 3 } };
    await send(workspace, `${BEFORE}?max_output_tokens=100&ttl_seconds=60`, named({ ...before, request }, 'short'));
    const { amount_micros: amount } = await reservationOf(workspace, 'short');
    expect(amount).toBe(1_048);
    expect((await send(workspace, `${BEFORE}?ttl_seconds=5`, before)).status).toBe(400);
  });
});
