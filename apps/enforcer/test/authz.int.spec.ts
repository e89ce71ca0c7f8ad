import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { expectMatchesOpenApi, type OpenApiDocument, useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const AUTHZ = '/api/v1/adapters/authz';

const stack = useEnforcer(useMongo());
const { budgets, limitedTo } = stack;
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await supertest(stack.httpUrl()).get('/openapi.json')).body as OpenApiDocument;
});

type Workspace = ReturnType<typeof stack.newWorkspace>;
type Headers = Record<string, string>;

const [recorded] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/envoy-1.40-authz-requests.json'), 'utf8'),
) as { headers: Headers; body: string }[];
/** A request that Envoy 1.40 sent, with the headers that say who calls. */
const asked = (more: Headers = {}) => ({
  ...recorded!,
  headers: { ...recorded!.headers, 'x-request-id': newId('req'), 'x-tollkeeper-agent': 'planner', ...more },
});

/** What a proxy learns, by either transport: the reservation, or the denial, or the error. */
interface Learned {
  status: number | string;
  reservation?: string | undefined;
  body?: Body;
  message?: unknown;
  headers: Headers;
}

/** Asks again while nothing can be decided, as proxies' callers do, but without the wait. */
async function again(ask: () => Promise<Learned>): Promise<Learned> {
  const answer = await ask();
  if (answer.status !== 503 && answer.status !== 'UNAVAILABLE') return answer;
  stack.passRetryAfter();
  return again(ask);
}

const TRANSPORTS = {
  gRPC: (workspace: Workspace, { headers, body }: { headers: Headers; body: string }) =>
    again(async () => {
      const answer = await workspace.rpc('Check', { attributes: { request: { http: { headers, body } } } });
      if ('message' in answer) return { status: String(answer['status']), message: answer['message'], headers: {} };
      const { okResponse, deniedResponse, dynamicMetadata } = answer as {
        okResponse?: { headers: { header: { key: string; value: string } }[] };
        deniedResponse?: {
          status: { code: string };
          headers: { header: { key: string; value: string } }[];
          body: string;
        };
        dynamicMetadata: unknown;
      };
      const given = (okResponse ?? deniedResponse)!.headers.map(({ header: { key, value } }) => [key, value]);
      const all = Object.fromEntries(given) as Headers;
      if (deniedResponse) {
        expect([answer['status'], deniedResponse.status]).toMatchObject([{ code: 8 }, { code: 'TooManyRequests' }]);
        return { status: 429, headers: all, body: JSON.parse(deniedResponse.body) as Body };
      }
      const reservation = all['x-tollkeeper-reservation'];
      expect(dynamicMetadata).toMatchObject({ fields: { reservation_id: { stringValue: reservation } } });
      return { status: 200, headers: all, reservation };
    }),
  HTTP: (workspace: Workspace, { headers, body }: { headers: Headers; body: string }) =>
    again(async () => {
      const request = supertest(stack.httpUrl()).post(AUTHZ).set(headers).set('x-api-key', workspace.apiKey);
      // The caller's own credentials are for the model.
      const response = await request.set('authorization', 'Bearer sk-of-the-model').send(body);
      const answered = { status: response.status, ...(response.text !== '' && { body: response.body as Body }) };
      expectMatchesOpenApi(document, { method: 'POST', path: AUTHZ, ...answered });
      const all = response.headers as Headers;
      return {
        ...answered,
        headers: all,
        reservation: all['x-tollkeeper-reservation'],
        message: answered.body?.['error'],
      };
    }),
};

describe.each(Object.entries(TRANSPORTS))('external authorization over %s', (_name, ask) => {
  it('holds what the headers say, else what the body can cost, else a default', async () => {
    const workspace = limitedTo(1_000_000);
    const estimated = asked({ 'x-tollkeeper-estimate-micros': '700', 'x-tollkeeper-run': 'run-7' });
    const partial = asked({ 'x-envoy-auth-partial-body': 'true' });
    const cheaper = asked({ 'x-tollkeeper-model': 'gpt-4o-mini', 'x-tollkeeper-estimate-micros': '0' });
    const unpriced = { ...asked(), body: JSON.stringify({ model: 'house-1', max_tokens: 400 }) };
    const odd = { ...asked(), body: '[[[[' };
    const held = [];
    for (const one of [estimated, asked(), cheaper, partial, unpriced, odd]) {
      const { reservation } = await ask(workspace, one);
      held.push(await workspace.read(reservation!));
    }
    // 93 bytes of input, and 400 tokens of output.
    expect(held.map((one) => one['amount_micros'])).toEqual([700, 4_118, 4_118, 50_000, 50_000, 50_000]);
    expect(held[0]).toMatchObject({ agent_id: 'planner', run_id: 'run-7', model: 'gpt-4o', state: 'held' });
    expect(held[0]!['request_id']).toBe(`call:${estimated.headers['x-request-id']}`);
  });

  it('holds all answers that the body asks for', async () => {
    const workspace = limitedTo(1_000_000);
    const body = JSON.stringify({ model: 'gpt-4o', max_tokens: 1, max_completion_tokens: 100, n: 5 });
    const { reservation } = await ask(workspace, { ...asked(), body });
    expect(await workspace.read(reservation!)).toMatchObject({
      amount_micros: 5_000 + Math.ceil(Math.ceil(body.length / 2) * 2.5),
    });
  });

  it('holds once for a repeated request, and not again once the call has ended', async () => {
    const workspace = limitedTo(10_000);
    const one = asked();
    const { reservation } = await ask(workspace, one);
    expect(await ask(workspace, one)).toMatchObject({ status: 200, reservation });
    await workspace.settle(reservation!, 5);
    expect(await ask(workspace, one)).toMatchObject({
      message: expect.stringContaining('The reservation of the call with this x-request-id is already settled.'),
    });
  });

  it('denies with 429, the error of the API and the time until the budget resets', async () => {
    const workspace = limitedTo(100);
    expect(await ask(workspace, asked())).toMatchObject({
      ...{ status: 429, headers: { 'retry-after': '43200', 'x-ratelimit-limit': '100' } },
      body: { error: { type: 'budget_exceeded', code: 'budget_exceeded', param: null } },
    });
    expect(workspace.events('budget.blocked')).toHaveLength(1);
  });

  it.each([
    ['x-tollkeeper-agent', ' '],
    ['x-tollkeeper-agent', 'a b'],
    ['x-tollkeeper-plan', 'No Plan'],
    ['x-tollkeeper-estimate-micros', '-1'],
    ['x-tollkeeper-estimate-micros', '9007199254740992'],
  ])('refuses a request by the name of the header that is wrong: %s: %j', async (name, value) => {
    const refused = await ask(limitedTo(100), asked({ [name]: value }));
    expect([400, 'INVALID_ARGUMENT']).toContain(refused.status);
    expect(refused.message).toContain(name);
  });

  it('is settled by a report of the call with the id of its request, or with the reservation', async () => {
    const workspace = limitedTo(100_000);
    const [first, second] = [asked(), asked()];
    await ask(workspace, first);
    const { reservation } = await ask(workspace, second);
    await workspace.spend({ amount_micros: 5, request_id: `call:${first.headers['x-request-id']}` });
    await workspace.spend({ amount_micros: 6, reservation_id: reservation });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 11, held_micros: 0 });
  });
});

describe('external authorization for nginx and Traefik', () => {
  const get = (headers: Headers, query = '') => supertest(stack.httpUrl()).get(`${AUTHZ}${query}`).set(headers);

  it('takes GET without a body, and a key as a bearer token', async () => {
    const workspace = limitedTo(60_000);
    const headers = { authorization: `Bearer ${workspace.apiKey}`, 'x-tollkeeper-agent': 'planner' };
    const { status, headers: answered } = await get({ ...headers, 'x-request-id': newId('req') });
    expect([status, answered['x-tollkeeper-reservation']]).toEqual([200, expect.stringMatching(/^rsv_/)]);
    const denied = await get(headers, '?denied_status=403');
    expect(denied.status).toBe(403);
    expect(denied.headers['x-tollkeeper-denial']).toContain('The workspace has spent $0.00 and holds $0.05');
  });

  it('has the sentence of a denial in a header, as it can be put into a string of JSON', async () => {
    const workspace = stack.newWorkspace();
    const named = { id: 'bud_day', name: 'Zoë’s "small\\ one" 🙂', period: { kind: 'day' }, limitMicros: 100 };
    budgets.setBudgets(workspace.tenantId, named);
    const headers = { authorization: `Bearer ${workspace.apiKey}`, 'x-tollkeeper-agent': 'planner' };
    const { status, body, headers: answered } = await get(headers, '?denied_status=403');
    expect([status, answered['x-tollkeeper-denial']]).toEqual([403, expect.stringMatching(/^[ -~]+$/)]);
    const { message } = (body as { error: Body }).error;
    expect(message).toContain(`Budget "${named.name}" has spent`);
    expect(message).toContain(`(POST /api/v1/raise-requests with budget_id ${named.id}`);
    expect(JSON.parse(`"${answered['x-tollkeeper-denial']}"`)).toBe(message);
  });

  it('takes any method, path below, content type and query, as Envoy and Traefik pass those of the request', async () => {
    const workspace = limitedTo(10_000_000);
    const headers = { 'x-api-key': workspace.apiKey, 'x-tollkeeper-agent': 'planner' };
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const url = `${stack.httpUrl()}${AUTHZ}/v1/chat/completions?beta=true&include=a&include=b&denied_status=x`;
      const bodied = { body: 'not JSON', headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' } };
      const answer = await fetch(url, { method, headers, ...(!['GET', 'HEAD'].includes(method) && bodied) });
      expect([method, answer.status, answer.headers.get('x-tollkeeper-reservation')]).toEqual([
        ...[method, 200, expect.stringMatching(/^rsv_/)],
      ]);
    }
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ held_micros: 7 * 50_000 });
  });

  it('refuses a call with two keys, of which one may be the own key of its caller', async () => {
    const [workspace, callers] = [limitedTo(60_000), limitedTo(60_000)];
    const headers = { authorization: `Bearer ${workspace.apiKey}`, 'x-tollkeeper-agent': 'planner' };
    const { status, body } = await get({ ...headers, 'x-api-key': callers.apiKey });
    expect([status, body]).toMatchObject([401, { error: expect.stringContaining('have different workspace keys') }]);
    expect((await get({ ...headers, 'x-api-key': workspace.apiKey })).status).toBe(200);
  });

  it('refuses a call without a key of ours', async () => {
    const { status } = await get({ authorization: 'Bearer sk-of-the-model', 'x-tollkeeper-agent': 'planner' });
    expect(status).toBe(401);
  });
});

it('gives calls ids of their own if Envoy sends an empty one', async () => {
  const workspace = limitedTo(1_000_000);
  const one = asked({ 'x-request-id': '' });
  const [first, second] = [await TRANSPORTS.gRPC(workspace, one), await TRANSPORTS.gRPC(workspace, one)];
  expect(first.reservation).not.toBe(second.reservation);
});

it('refuses a body over 64 KiB over gRPC, by the setting that makes it smaller', async () => {
  const http = { headers: asked().headers, body: ' '.repeat(65_537) };
  expect(await limitedTo(100).rpc('Check', { attributes: { request: { http } } })).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringContaining('set max_request_bytes of with_request_body'),
  });
});
