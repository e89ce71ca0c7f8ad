import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { signCallerToken } from '@tollkeeper/http';
import { provenTenantId } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import request from 'supertest';
import { AREAS, actsInWorkspace } from '../src/domain/area.ts';
import { cookieOf, secret, type Seen, sessionIdOf, type Stack, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';
let stack: Stack;
beforeAll(async () => void (stack = await startStack()));
beforeEach(() => {
  for (const service of Object.values(stack.services)) service.answer = undefined;
});
afterAll(() => stack.stop());

const http = () => request(stack.gateway.httpUrl);
const spend = () => http().get(SPEND).set('cookie', cookieOf('ada'));

/** What proxies say of a call. */
const OF_CALL = {
  'x-tollkeeper-agent': 'agent-7',
  'x-tollkeeper-run': 'run-7',
  'x-tollkeeper-plan': 'trial',
  'x-tollkeeper-model': 'large-1',
  'x-tollkeeper-estimate-micros': '700',
  'x-envoy-auth-partial-body': 'false',
};
const OF_EVENT = {
  'ce-specversion': '1.0',
  'ce-id': 'evt-1',
  'ce-source': '/gateways/eu-1',
  'ce-type': 'spend.settled',
  'ce-time': '2026-11-21T18:00:00Z',
};

describe('what a service gets', () => {
  const ofCallers = AREAS.filter(({ access }) => access === 'session' || typeof access === 'object');
  /** The headers that each area's service gets in addition to the common ones: who calls, or these. */
  const OWN: Record<string, string[]> = {
    ...Object.fromEntries(ofCallers.map(({ name }) => [name, ['x-tollkeeper-caller']])),
    login: ['cookie', 'x-tollkeeper-client'],
    reset: ['x-tollkeeper-client'],
    'single-sign-on': ['cookie', 'x-tollkeeper-client'],
    'device-token': ['x-tollkeeper-client'],
    device: ['x-tollkeeper-client'],
    forgot: ['x-tollkeeper-client'],
    auth: ['cookie', 'x-tollkeeper-caller', 'x-tollkeeper-client'],
    invitation: ['x-tollkeeper-caller', 'x-tollkeeper-client'],
    'alert-mails': ['x-tollkeeper-client'],
    events: ['authorization', ...Object.keys(OF_EVENT)],
    otlp: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    'otlp-below-api': ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    'otlp-of-langfuse': ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    intake: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    reservations: ['authorization'],
    'raise-requests': ['authorization'],
    authz: ['authorization', 'x-api-key', ...Object.keys(OF_CALL)],
    litellm: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    portkey: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
    leases: ['authorization'],
  };
  const PASSED = {
    accept: 'application/json',
    'accept-encoding': 'br',
    'accept-language': 'de',
    'content-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'test',
    'x-request-id': 'from-client-2',
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    tracestate: 'a=1',
  };

  it.each(AREAS)('in the area $name, these headers alone, and none of its own kind from outside', async (area) => {
    const forged = await signCallerToken(secret, area.upstream, {
      userId: 'user_eve',
      tenantId: provenTenantId('ws_bob'),
      role: 'owner',
    });
    const headers = {
      ...PASSED,
      cookie: cookieOf('ada'),
      authorization: 'Bearer ws_live_a.b',
      'x-api-key': 'ws_live_a.b',
      ...OF_CALL,
      ...OF_EVENT,
      'ce-anything': 'x',
      'proxy-authorization': 'Bearer ws_live_a.b',
      'x-workspace': 'acme',
      'x-tollkeeper-caller': forged,
      'x-tollkeeper-client': forged,
      'x-tollkeeper-anything': 'x',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=203.0.113.9',
      'x-real-ip': '203.0.113.9',
      origin: 'https://tollkeeper.example',
      'if-none-match': '"x"',
      te: 'trailers',
    };
    const path = area.path.replace('{tenant_id}', 'ws_acme').replace('{token}', 'tk_invite_x');
    const framing = { 'content-length': 2 };
    const read = await raw('GET', path, headers);
    const written = await raw('POST', path, { ...headers, ...framing }, Buffer.from('{}'));
    const names = ['connection', 'host', ...Object.keys(PASSED), ...(OWN[area.name] ?? [])];
    const isCalled = names.includes('x-tollkeeper-caller');
    // The audit log contains the client's address for each write of a person.
    const ofWrite = isCalled ? ['x-tollkeeper-client'] : [];
    for (const [answer, more] of [
      [read, []],
      [written, [...Object.keys(framing), ...ofWrite]],
    ] as const) {
      const seen = JSON.parse(answer.text) as Seen;
      expect(Object.keys(seen.headers).sort()).toEqual([...new Set([...names, ...more])].sort());
      expect(seen.headers).toMatchObject(PASSED);
      const workspace = actsInWorkspace(area) ? { tenantId: 'ws_acme', role: 'owner' } : { tenantId: null, role: null };
      expect(seen.caller).toEqual(isCalled ? { userId: 'user_ada', ...workspace } : null);
      expect(seen.client).toBe('x-tollkeeper-client' in seen.headers ? '127.0.0.1' : null);
    }
  });

  it('no hop-by-hop header, not even one that Connection names', async () => {
    const headers: OutgoingHttpHeaders = {
      cookie: cookieOf('ada'),
      connection: 'close, x-tollkeeper-caller, x-request-id',
      te: 'trailers',
      upgrade: 'h2c',
    };
    const seen = JSON.parse((await raw('GET', SPEND, headers)).text) as Seen;
    expect(seen.headers['connection']).toBe('keep-alive');
    expect(seen.headers).not.toHaveProperty('te');
    expect(seen.headers).not.toHaveProperty('upgrade');
    expect(seen.caller).not.toBeNull();
  });

  it('the request id, a well-formed one from the client kept', async () => {
    const kept = await spend().set('x-request-id', 'from-client-1');
    expect([kept.headers['x-request-id'], (kept.body as Seen).headers['x-request-id']]).toEqual([
      'from-client-1',
      'from-client-1',
    ]);
    const made = await spend().set('x-request-id', 'bad id');
    expect(made.headers['x-request-id']).toMatch(/^req_/);
    expect((made.body as Seen).headers['x-request-id']).toBe(made.headers['x-request-id']);
  });

  it('the query as it was sent', async () => {
    const answer = await http().get(`${SPEND}?range=1m&range=3m&x=%zz`).set('cookie', cookieOf('ada'));
    expect((answer.body as Seen).url).toBe('/api/v1/dashboard/spend?range=1m&range=3m&x=%zz');
  });

  it.each(['login', 'password'])('at %s, the address of the client as the gateway saw it', async (call) => {
    const sent = http()
      .post(`/api/v1/auth/${call}`)
      .set('cookie', cookieOf('ada'))
      .set('x-forwarded-for', '203.0.113.9');
    expect(((await sent.send({})).body as Seen).client).toBe('127.0.0.1');
  });

  it('at login, behind proxies that the operator trusts, the last address that is none of theirs', async () => {
    const behind = await startStack({ TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' });
    const clientOf = async (forwardedFor: string): Promise<string | null> => {
      const login = request(behind.gateway.httpUrl).post('/api/v1/auth/login').set('x-forwarded-for', forwardedFor);
      return ((await login.send({})).body as Seen).client;
    };
    expect(await clientOf('203.0.113.9, 198.51.100.7, 10.1.2.3')).toBe('198.51.100.7');
    expect(await clientOf('rubbish')).toBe('127.0.0.1');
    await behind.stop();
  });

  it('a signed caller that is used again in place of a new one', async () => {
    const [first, second] = [await spend(), await spend()].map(
      (answer) => (answer.body as Seen).headers['x-tollkeeper-caller'],
    );
    expect(first).toBe(second);
  });
});

describe('what a client gets', () => {
  it("the service's status, headers and body, with the security headers of the edge", async () => {
    stack.services.dashboard.answer = (_req, res) =>
      void res.writeHead(418, { 'x-own': 'yes', 'content-type': 'application/json' }).end('{"a":1}');
    const answer = await spend();
    expect([answer.status, answer.headers['x-own'], answer.body]).toEqual([418, 'yes', { a: 1 }]);
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'strict-transport-security': expect.stringContaining('max-age='),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'no-store',
    });
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  it('every cookie that a service sets', async () => {
    stack.services.identity.answer = (_req, res) =>
      void res
        .writeHead(
          200,
          [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ].flat(),
        )
        .end();
    expect((await http().post('/api/v1/auth/login').send({})).headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it('503 with Retry-After while a service refuses connections', async () => {
    stack.services.keys.server.close();
    stack.services.keys.server.closeAllConnections();
    const answer = await http().get('/w/acme/api/v1/management/workspace-keys').set('cookie', cookieOf('ada'));
    expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect(answer.body.error).toContain('keys');
    expect(answer.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
  });

  it('503 when a service breaks off before it has answered', async () => {
    stack.services.dashboard.answer = (req) => void req.socket.destroy();
    const answer = await spend();
    expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
  });

  it('no 429 for logins after many that another site had a browser send', async () => {
    const own = await startStack({ LOGIN_ATTEMPTS_PER_MINUTE: '1' });
    const login = () => request(own.gateway.httpUrl).post('/api/v1/auth/login');
    for (let sent = 0; sent < 3; sent += 1) {
      expect((await login().set('sec-fetch-site', 'cross-site').send({})).status).toBe(403);
      expect((await login().set('content-type', 'text/plain').send('{}')).status).toBe(415);
    }
    expect((await request(own.gateway.httpUrl).get('/api/v1/auth/login')).status).toBe(200);
    expect((await login().send({})).status).toBe(200);
    expect((await login().send({})).status).toBe(429);
    await own.stop();
  });

  it('429 for too many starts of log-ins by a provider from one address, and its callbacks still work', async () => {
    const own = await startStack({ LOGIN_ATTEMPTS_PER_MINUTE: '2' });
    const get = (path: string) => request(own.gateway.httpUrl).get(`/api/v1/auth/oidc${path}`);
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await get('/okta/start')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await get('/okta/callback?code=a&state=b')).status).toBe(200);
    expect((await get('')).status).toBe(200);
    await own.stop();
  });

  it('429 for too many logins of machines from one address, and none for people who share it', async () => {
    const own = await startStack({ LOGIN_ATTEMPTS_PER_MINUTE: '1' });
    const post = async (path: string) =>
      (await request(own.gateway.httpUrl).post(`/api/v1/auth${path}`).send({})).status;
    const exchange = '/oidc/github:exchange';
    expect([await post(exchange), await post(exchange), await post('/login')]).toEqual([200, 429, 200]);
    await own.stop();
  });

  it('429 with Retry-After for too many logins from one address, good or bad, and nothing else is delayed', async () => {
    const own = await startStack({ LOGIN_ATTEMPTS_PER_MINUTE: '5' });
    const login = () => request(own.gateway.httpUrl).post('/api/v1/auth/login');
    const statuses: number[] = [];
    for (let sent = 0; sent < 6; sent += 1) statuses.push((await login().send({})).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = await login().set('x-forwarded-for', '203.0.113.7').send({});
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await request(own.gateway.httpUrl).get(SPEND).set('cookie', cookieOf('ada'))).status).toBe(200);
    await own.stop();
  });
});

describe('bodies', () => {
  const MIB = 1024 * 1024;
  const agents = '/w/acme/api/v1/agents';
  const headers = { cookie: cookieOf('ada'), 'content-type': 'application/json' };

  it.each([
    [agents, headers, MIB, ''],
    [
      '/api/v1/events',
      { authorization: 'Bearer k', 'content-type': 'application/cloudevents+json' },
      5 * MIB,
      ' Send fewer events in a request.',
    ],
    [
      '/v1/traces',
      { 'x-api-key': 'k', 'content-type': 'application/x-protobuf' },
      20 * MIB,
      " Set a smaller batch: OTEL_BSP_MAX_EXPORT_BATCH_SIZE; in the Collector's batch processor, send_batch_max_size.",
    ],
    [
      '/api/v1/otlp/v1/logs?x=y',
      { 'x-api-key': 'k', 'content-type': 'application/json' },
      20 * MIB,
      " Set a smaller batch: OTEL_BLRP_MAX_EXPORT_BATCH_SIZE; in the Collector's batch processor, send_batch_max_size.",
    ],
  ])(
    '%s takes a body up to its limit and answers 413 with the setting of its sender above, whether the length is said or not',
    async (path, headers, limit, hint) => {
      const body = Buffer.alloc(limit, 'x');
      expect((await raw('POST', path, { ...headers, 'content-length': limit }, body)).status).toBe(200);
      expect((await raw('POST', path, { ...headers, 'transfer-encoding': 'chunked' }, body)).status).toBe(200);
      const over = Buffer.alloc(limit + 1, 'x');
      for (const framing of [{ 'content-length': limit + 1 }, { 'transfer-encoding': 'chunked' }]) {
        const answer = await raw('POST', path, { ...headers, ...framing }, over);
        const sentence = `The request body is larger than ${limit / MIB} MiB.${hint}`;
        expect([answer.status, answer.text]).toEqual([413, expect.stringContaining(sentence)]);
        // Errors of protobuf requests are protobuf: field 2 with the length of the sentence, in two bytes.
        if (headers['content-type'] === 'application/x-protobuf') {
          expect(answer.text).toMatch(/^\x12..The/s);
          expect(answer.text.endsWith(sentence)).toBe(true);
        } else expect(JSON.parse(answer.text)).toMatchObject({ code: 'payload_too_large', error: sentence });
      }
    },
  );

  it('that are not JSON are 415 in writes outside ingest, which judges its own', async () => {
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/jsonx',
    ]) {
      const answer = await http().post(agents).set('cookie', cookieOf('ada')).type(type).send('x=1');
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    }
    expect(
      (await http().post(agents).set('cookie', cookieOf('ada')).type('application/merge-patch+json').send('{}')).status,
    ).toBe(200);
    expect((await http().post('/api/v1/events').type('text/plain').send('x')).status).toBe(200);
    expect((await spend().type('text/plain').send('x')).status).toBe(200);
  });
});

describe('log and metrics', () => {
  it('one line for each request, with who, where and how, and without query, cookie or key', async () => {
    await http().get(`${SPEND}?token=hunter2`).set('cookie', cookieOf('ada')).set('x-request-id', 'logged-request');
    const lines = () => stack.log.lines().filter((entry) => entry['request_id'] === 'logged-request');
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(lines()[0]).toMatchObject({
      method: 'GET',
      path: SPEND,
      area: 'dashboard',
      status: 200,
      ms: expect.any(Number),
      user_id: 'user_ada',
      tenant_id: 'ws_acme',
    });
    const text = stack.log.text();
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain(sessionIdOf('ada'));
  });

  it('requests are counted by area, method and status', async () => {
    await spend();
    await eventually(async () => {
      const text = await stack.metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
      expect(text).toContain('method="GET",route="dashboard",status="200"');
      expect(text).not.toContain('acme');
    });
  });
});

interface RawAnswer {
  status: number | undefined;
  text: string;
}

/** Sends exactly these headers, and reads an answer that may arrive before the body is complete. */
async function raw(method: string, path: string, headers: OutgoingHttpHeaders, body?: Buffer): Promise<RawAnswer> {
  const req = httpRequest(`${stack.gateway.httpUrl}${path}`, { method, headers, agent: false });
  req.on('error', () => undefined);
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return { status: res.statusCode, text: (await res.toArray()).join('') };
}
