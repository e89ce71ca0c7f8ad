import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { CALLER_HEADER, CLIENT_HEADER, signClientAddress } from '../src/index.ts';
import { as, secret, testServer } from './api.fixture.ts';

const { server, logs, metrics } = testServer();
let owner: string;

beforeAll(async () => {
  await server.start();
  owner = await as('owner');
});
afterAll(() => server.stop());

const http = () => request(server.url);
const put = (path = '/api/v1/items/abc') => http().put(path).set(CALLER_HEADER, owner);

describe('checks come in the decided order', () => {
  it('401 without a caller token, before anything about the body', async () => {
    const answer = await http().put('/api/v1/items/NOT-VALID').type('text/plain').send('x');
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('unauthenticated');
  });

  it('401 with a forged caller token', async () => {
    const answer = await http()
      .get('/api/v1/me')
      .set(CALLER_HEADER, `${owner.slice(0, -3)}AAA`);
    expect(answer.status).toBe(401);
  });

  it('for visitors: who comes with a caller token is the caller, who comes without is nobody, and a forged one is 401', async () => {
    const visit = () => http().get('/api/v1/visit');
    expect((await visit()).body).toEqual({ value: null });
    expect((await visit().set(CALLER_HEADER, await as(null))).body).toEqual({ value: expect.stringMatching(/^user_/) });
    expect((await visit().set(CALLER_HEADER, `${owner.slice(0, -3)}AAA`)).status).toBe(401);
  });

  it('403 with a role that is too low, before anything about the body', async () => {
    const answer = await http()
      .put('/api/v1/items/abc')
      .set(CALLER_HEADER, await as('member'))
      .type('json')
      .send('{');
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      code: 'forbidden',
      error: 'This requires the role admin in the workspace; yours is member.',
    });
  });

  it('400 workspace_required when the caller has no workspace', async () => {
    const answer = await put()
      .set(CALLER_HEADER, await as(null))
      .send({ items: [] });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'workspace_required', error: expect.stringContaining('/w/{slug}') });
  });

  it('the authenticator of a route, before anything about the body', async () => {
    expect((await http().post('/api/v1/guests').type('text/plain').send('x')).status).toBe(401);
    const answer = await http().post('/api/v1/guests').set('authorization', 'ada').send({});
    expect([answer.status, answer.body]).toEqual([201, { guest: 'ada' }]);
  });

  it('the charge of a route, before its schema: what is not valid is charged too, what is not JSON is not', async () => {
    const send = (body: string) => http().post('/api/v1/guests').set('authorization', 'spent').type('json').send(body);
    expect([(await send('{}')).status, (await send('{"other":1}')).status, (await send('{')).status]).toEqual([
      ...[429, 429, 400],
    ]);
  });
});

describe('bodies', () => {
  it('reach the handler as the schema made them, with the caller that was proven', async () => {
    const answer = await put().send({ items: [{ name: 'a' }] });
    expect(answer.body).toEqual({ value: { items: [{ name: 'a' }], id: 'abc', tenant: 'ws_1' } });
  });

  it('415 for another content type, a missing one, and another charset', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'nonsense',
    ]) {
      expect((await put().set('content-type', type).send('{}')).status).toBe(415);
    }
    const { body: ofType } = await http().patch('/api/v1/items/abc').type('text/plain').send('{}');
    expect(ofType.error).toBe('The Content-Type must be application/merge-patch+json or application/json.');
    const { body: ofCharset } = await put().set('content-type', 'application/json; charset=utf-16').send('{}');
    expect(ofCharset.error).toBe('The charset of the Content-Type must be utf-8.');
    expect((await put().set('content-type', 'application/json; charset=UTF-8').send('{"items":[]}')).status).toBe(200);
    const [headers, body] = [{ [CALLER_HEADER]: owner }, new Uint8Array(Buffer.from('{}'))];
    expect((await fetch(`${server.url}/api/v1/items/abc`, { method: 'PUT', headers, body })).status).toBe(415);
  });

  it('each route names the content types that it takes, and checks each by its own schema', async () => {
    const answer = await http().patch('/api/v1/items/abc').type('application/merge-patch+json').send('{"a":null}');
    expect(answer.body).toEqual({ value: { a: null } });
    expect((await http().patch('/api/v1/items/abc').type('application/merge-patch+json').send('{"a":1}')).status).toBe(
      400,
    );
    expect((await http().patch('/api/v1/items/abc').type('application/json').send('{"a":1}')).status).toBe(200);
    expect((await put().type('application/merge-patch+json').send('{}')).status).toBe(415);
  });

  it('400 malformed_json for what is not JSON or not UTF-8', async () => {
    for (const text of ['{', '{"items":[}', 'null x', "{'items':[]}"]) {
      const answer = await put().type('json').send(text);
      expect([answer.status, answer.body.code]).toEqual([400, 'malformed_json']);
    }
    const answer = await put()
      .type('json')
      .serialize((value: unknown) => value as string)
      .send(Buffer.from([0x22, 0xff, 0x22]));
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed_json']);
  });

  it('400 says how many problems there are beside those listed', async () => {
    const answer = await put().send({ items: Array(120).fill(1) });
    expect(answer.body.error).toBe('The request has 120 problems; details lists 100 of them.');
    expect(answer.body.details).toHaveLength(100);
  });

  it('400 lists 100 problems at most, wherever they are', async () => {
    const repeated = Array.from({ length: 90 }, (_, index) => `p${index}&p${index}`).join('&');
    const answer = await put(`/api/v1/items/A1?${repeated}`).send({ items: Array(60).fill(1) });
    expect(answer.body.error).toBe('The request has 151 problems; details lists 100 of them.');
    expect(answer.body.details).toHaveLength(100);
  });

  it('400 names unknown fields in one problem for their object: the first ones, and how many more there are', async () => {
    const unknown = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
    const problems = async (count: number) => (await put().send({ items: [], ...unknown(count) })).body.details;
    const path = 'f0';
    expect(await problems(1)).toEqual([{ path, message: 'is not a known field' }]);
    expect(await problems(2)).toEqual([{ path, message: 'is not a known field, nor is f1' }]);
    expect(await problems(5)).toEqual([{ path, message: 'is not a known field, nor are f1, f2, f3, f4' }]);
    expect(await problems(90)).toEqual([{ path, message: 'is not a known field, nor are f1, f2, f3, f4 and 85 more' }]);
  });

  it('413 over the limit, also when a small compressed body grows over it', async () => {
    expect((await put().send({ items: [], note: 'x'.repeat(2000) })).body).toMatchObject({
      code: 'payload_too_large',
      error: 'The request body is larger than 1024 bytes.',
    });
    const bomb = gzipSync(JSON.stringify({ items: [], note: 'x'.repeat(100_000) }));
    const answer = await put()
      .type('json')
      .set('content-encoding', 'gzip')
      .serialize((value: unknown) => value as string)
      .send(bomb);
    expect(answer.status).toBe(413);
  });

  it('may have as many bytes as the limit, be their number said or not, and not one more', async () => {
    const statusOf = async (bytes: number, whole: boolean) => {
      const text = `{"items":[],"note":"${'x'.repeat(bytes - 22)}"}`;
      const headers = { [CALLER_HEADER]: owner, 'content-type': 'application/json' };
      const body = whole ? text : new Blob([text]).stream();
      return (await fetch(`${server.url}/api/v1/items/abc`, { method: 'PUT', headers, body, duplex: 'half' })).status;
    };
    for (const whole of [true, false]) {
      expect([await statusOf(1024, whole), await statusOf(1025, whole)]).toEqual([200, 413]);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', (text: Buffer) => text],
  ])('are taken when they are compressed: %s', async (encoding, compress) => {
    const answer = await fetch(`${server.url}/api/v1/items/abc`, {
      method: 'PUT',
      headers: { [CALLER_HEADER]: owner, 'content-type': 'application/json', 'content-encoding': encoding },
      body: new Uint8Array(compress(Buffer.from('{"items":[]}'))),
    });
    expect(answer.status).toBe(200);
  });

  it('a route can have a limit of its own', async () => {
    expect(
      (
        await http()
          .patch('/api/v1/items/abc')
          .send({ a: 'x'.repeat(100) })
      ).status,
    ).toBe(413);
  });

  it('400 when there is none', async () => {
    const answer = await put();
    expect([answer.status, answer.body.details]).toEqual([400, [{ path: '', message: 'a JSON body is required' }]]);
  });

  it('400 for truncated gzip, 415 for an unknown encoding', async () => {
    const cut = gzipSync('{"items":[]}').subarray(0, 12);
    const send = (encoding: string) =>
      put()
        .type('json')
        .set('content-encoding', encoding)
        .serialize((value: unknown) => value as string)
        .send(cut);
    const broken = await send('gzip');
    expect([broken.status, broken.body.error]).toEqual([400, expect.stringContaining('cannot be read')]);
    for (const encoding of ['lzma', 'constructor', 'gzip, br']) {
      const unknown = await send(encoding);
      expect(unknown.status).toBe(415);
      expect(unknown.body.error).toBe('The Content-Encoding must be one of gzip, deflate, br, zstd.');
    }
  });

  it('never let a key reach a prototype', async () => {
    for (const text of [
      '{"items":[],"__proto__":{"polluted":1}}',
      '{"items":[],"constructor":{"prototype":{"polluted":1}}}',
    ]) {
      expect((await put().type('json').send(text)).status).toBe(400);
      expect((await http().patch('/api/v1/items/abc').type('json').send(text)).status).toBe(400);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuse an operator object where a string belongs', async () => {
    const answer = await put().send({ items: [{ name: { $gt: '' } }] });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'items[0].name']);
  });
});

describe('validation', () => {
  it('lists every problem of path, query and body together, unknown fields by their name', async () => {
    const answer = await put('/api/v1/items/A1?x=1&x=2').send({
      items: [{ name: '' }, { nam: 'a' }, { name: 'toolong' }],
      other: 1,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid_request');
    expect(answer.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'id',
      'x',
      'items[0].name',
      'items[1].name',
      'items[1].nam',
      'items[2].name',
      'other',
    ]);
    expect(answer.body.details[3].message).toBe('is required');
  });

  it('refuses a repeated query parameter by its name and ignores unknown ones', async () => {
    const repeated = await http().get('/api/v1/public?limit=1&limit=2');
    expect(repeated.body.details).toEqual([{ path: 'limit', message: 'must be given only once' }]);
    expect((await http().get('/api/v1/public?other=1')).body.limit).toBe(50);
    const long = 'x'.repeat(129);
    const { details } = (await http().get(`/api/v1/public?${long}=1&${long}=2`)).body;
    expect(details).toEqual([{ path: 'x'.repeat(128), message: 'must be given only once' }]);
  });

  it('reads parameters with dots as members of a declared one, and ignores others', async () => {
    const { body } = await http().get('/api/v1/public?label.team=a&label.cost.center=b%3Dc&other.team=d&.=e&limit.x=1');
    expect(body).toMatchObject({ limit: 50, label: { team: 'a', 'cost.center': 'b=c' } });
    const { details } = (await http().get('/api/v1/public?label=a&label.team=b')).body;
    expect(details).toEqual([{ path: 'label', message: 'must be an object' }]);
    const repeated = (await http().get('/api/v1/public?label.team=a&label.team=b')).body;
    expect(repeated.details).toEqual([{ path: 'label.team', message: 'must be given only once' }]);
  });

  it.each(['0', '201', '-1', '1.5', '1e2', 'NaN', '', '99999999999999999999'])('refuses limit=%s', async (limit) => {
    expect((await http().get(`/api/v1/public?limit=${limit}`)).status).toBe(400);
  });

  it.each([
    '/api/v1/items/%zz:close',
    '/api/v1/items/%ff:close',
    '/api/v1/items/a%00b:close',
    '/api/v1/items/..%2f..:close',
  ])('answers 400 to rubbish in the path: %s', async (path) => {
    expect((await http().post(path)).status).toBe(400);
  });

  it('answers 400 to percent-encoded rubbish in the query', async () => {
    const answer = await http().get('/api/v1/public?status=%e0%a4%a');
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('The query contains')]);
    expect((await http().get('/api/v1/public?__proto__=1&constructor=2')).status).toBe(200);
  });
});

describe('answers', () => {
  it('405 with Allow on a known path, 404 on an unknown one', async () => {
    const other = await http().delete('/api/v1/items/abc');
    expect([other.status, other.headers['allow'], other.body.code]).toEqual([405, 'PUT, PATCH', 'method_not_allowed']);
    expect(other.body.error).toBe('This path accepts PUT, PATCH.');
    expect((await http().get('/api/v1/items/abc:close')).status).toBe(405);
    const unknown = await http().get('/api/v2/items');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    expect(unknown.body.error).toBe('This path does not exist. GET /openapi.json lists all paths.');
    expect((await http().get('/API/V1/public')).status).toBe(404);
  });

  it.each([
    ['delete', '/api/v1/items/list', 'GET, HEAD'],
    ['delete', '/api/v1/items/abc', 'PUT, PATCH'],
    ['get', '/api/v1/items/abc:close', 'POST'],
    ['put', '/api/v1/items/abc:close', 'POST'],
    ['put', '/api/v1/items/abc%3Aclose', 'POST'],
    ['options', '/api/v1/items/abc', 'PUT, PATCH'],
    ['post', '/openapi.json', 'GET, HEAD'],
  ] as const)('405 names each method of that very path once: %s %s', async (method, path, allow) => {
    const answer = await http()[method](path);
    expect([answer.status, answer.headers['allow'], answer.body.code]).toEqual([405, allow, 'method_not_allowed']);
  });

  it('a path in words is not taken for an id, wherever it is defined', async () => {
    expect((await http().get('/api/v1/items/list')).body).toEqual({ value: 'list' });
    expect((await http().put('/api/v1/items/list').set(CALLER_HEADER, owner).send({ items: [] })).status).toBe(405);
  });

  it('a percent-encoded colon is a colon, and no other encoding changes the way of a path', async () => {
    for (const colon of [':', '%3A', '%3a']) {
      expect((await http().post(`/api/v1/items/abc${colon}close?x=%3A`)).status).toBe(204);
    }
    expect((await http().post('/api/v1/items/abc%253Aclose')).status).toBe(405);
    expect((await http().post('/api/v1/items%2Fabc:close')).status).toBe(404);
    expect((await http().post('/api/v1/items/%2e%2e/items/abc:close')).status).toBe(404);
  });

  it('a method on a path with a verb', async () => {
    const answer = await http().post('/api/v1/items/abc:close');
    expect([answer.status, answer.headers['x-closed'], answer.text]).toEqual([204, 'yes', '']);
  });

  it('keep a well-formed request id and replace any other', async () => {
    const kept = await http().get('/api/v1/public').set('x-request-id', 'trace-0123456789');
    expect(kept.headers['x-request-id']).toBe('trace-0123456789');
    for (const odd of ['short', 'a'.repeat(129), 'has space in it', '"quoted-id"']) {
      const answer = await http().get('/nowhere').set('x-request-id', odd);
      expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f-]{36}$/);
      expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
    }
  });

  it('500 reveals nothing but the request id, and the log has the rest', async () => {
    const answer = await http().get('/api/v1/broken').set('x-request-id', 'broken-12345');
    expect(answer.status).toBe(500);
    expect(Object.keys(answer.body)).toEqual(['error', 'code', 'request_id']);
    expect(answer.text).not.toContain('mongodb');
    expect(logs.some((line) => line.includes('broken-12345') && line.includes('mongodb'))).toBe(true);
  });

  it('429 with Retry-After, and the log has nothing: the caller can do better', async () => {
    const answer = await http().get('/api/v1/busy').set('x-request-id', 'busy-12345');
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7']);
    expect(logs.some((line) => line.includes('busy-12345') && line.includes('request failed'))).toBe(false);
  });

  it('503 names the failure, and the log has its cause as a warning', async () => {
    const answer = await http().get('/api/v1/down').set('x-request-id', 'down-12345');
    expect([answer.status, answer.headers['retry-after'], answer.body.error]).toEqual([
      ...[503, '5', 'The database is down.'],
    ]);
    expect(answer.text).not.toContain('10.0.0.1');
    const line = logs.find((text) => text.includes('down-12345') && text.includes('request failed')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', err: { cause: { message: 'connect to 10.0.0.1' } } });
  });

  it('carry neither ETag nor the name of the framework', async () => {
    const { headers } = await http().get('/api/v1/public');
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('are counted by operation, method and status, never by path', async () => {
    await http().get('/random/path/123');
    const text = await metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
    expect(text).toMatch(
      /http_server_request_duration_seconds_count\{service="test",method="GET",route="getPublic",status="200"\} \d/,
    );
    expect(text).not.toContain('random');
  });
});

describe('the client address', () => {
  it('is the one that the gateway vouches for, else the one of the socket', async () => {
    const vouched = await http()
      .get('/api/v1/public')
      .set(CLIENT_HEADER, await signClientAddress(secret, 'test', '192.0.2.7'));
    expect(vouched.body.address).toBe('192.0.2.7');
    const forged = await http()
      .get('/api/v1/public')
      .set(CLIENT_HEADER, '192.0.2.7')
      .set('x-forwarded-for', '192.0.2.7');
    expect(forged.body.address).toBe('127.0.0.1');
  });
});
