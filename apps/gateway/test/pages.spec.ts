import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import request from 'supertest';
import { cookieOf, type Seen, type Stack, startStack } from './stack.fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(() => {
  stack.services.console.answer = undefined;
});
afterAll(() => stack.stop());

const http = () => request(stack.gateway.httpUrl);

it.each(['/', '/login?next=%2Fw%2Facme', '/w/acme', '/w/acme/', '/w/acme/agents/api', '/w/acme/apis', '/assets/a.js'])(
  'the console has %s, for everybody, and nothing is asked of identity',
  async (path) => {
    const questions = stack.identity.questions;
    const { body } = await http().get(path).set('cookie', cookieOf('ada'));
    expect([body.service, body.method, body.url]).toEqual(['console', 'GET', path]);
    expect(stack.identity.questions).toBe(questions);
  },
);

describe('what the console gets of a request', () => {
  const forged = {
    cookie: cookieOf('ada'),
    authorization: 'Bearer ws_live_a.b',
    'x-workspace': 'acme',
    'x-tollkeeper-caller': 'forged',
    'x-tollkeeper-client': '203.0.113.9',
    'x-forwarded-for': '203.0.113.9',
    'if-none-match': '"x"',
    te: 'trailers',
    connection: 'x-request-id, close',
    upgrade: 'websocket',
    accept: 'text/html',
  };

  it.each([
    ['', {}],
    [', also of one that waits for 100 Continue', { expect: '100-continue' }],
    [', also with an expectation that no server knows', { expect: 'tea' }],
  ])('are the harmless headers alone%s', async (_name, more) => {
    const { text } = await raw(`GET / HTTP/1.1\r\n${headerLines({ host: 'evil.example', ...forged, ...more })}\r\n`);
    const { headers, url } = JSON.parse(text) as Seen;
    expect(Object.keys(headers).sort()).toEqual(['accept', 'connection', 'host', 'x-request-id']);
    expect([url, headers['connection'], headers['host']]).toEqual([
      '/',
      'keep-alive',
      new URL(stack.services.console.url).host,
    ]);
  });

  it('is no body, nor a second request in place of one', async () => {
    const requests = stack.services.console.requests;
    const hidden = 'GET /hidden HTTP/1.1\r\nhost: x\r\nx-tollkeeper-caller: forged\r\n\r\n';
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    for (const [framing, body] of [
      [`content-length: ${hidden.length}`, hidden],
      ['transfer-encoding: chunked', chunk],
    ]) {
      const head = `GET /page HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${framing}\r\n\r\n`;
      const seen = JSON.parse((await raw(head + body)).text) as Seen;
      expect([seen.url, seen.body]).toEqual(['/page', '']);
      expect(seen.headers).not.toHaveProperty('content-length');
      expect(seen.headers).not.toHaveProperty('transfer-encoding');
    }
    await http().get('/next').expect(200);
    expect(stack.services.console.requests - requests).toBe(3);
  });

  it.each(['//evil.example/x', '/a//b/../c', '/%2e%2e/%00', '/x?a=1&a=2&b=%zz'])(
    'is its path as it was sent: %s',
    async (path) => {
      const { text } = await raw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect((JSON.parse(text) as Seen).url).toBe(path);
    },
  );

  it('is nothing of a path that no URL has, which is 404', async () => {
    const requests = stack.services.console.requests;
    const { status } = await raw('GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect([status, stack.services.console.requests]).toEqual([404, requests]);
  });
});

it("leaves a page its policy and its time to live, and adds the edge's headers once", async () => {
  const own = {
    'content-security-policy': "default-src 'self'",
    'cache-control': 'max-age=7',
    'x-frame-options': 'NO',
  };
  stack.services.console.answer = (_req, res) =>
    res.writeHead(200, { ...own, 'content-type': 'text/html' }).end('page');
  const { headers, text } = await http().get('/w/acme/budgets');
  expect(text).toBe('page');
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'self'",
    'cache-control': 'max-age=7',
    'x-frame-options': 'SAMEORIGIN',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-request-id': expect.any(String),
  });
});

it.each(['post', 'put', 'patch', 'delete'] as const)(
  '%s of a page is 405, and does not reach the console',
  async (method) => {
    const requests = stack.services.console.requests;
    const answer = await http()[method]('/w/acme/budgets').send({});
    expect([answer.status, answer.body.code, answer.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD',
    ]);
    expect(stack.services.console.requests).toBe(requests);
  },
);

it('a page that its client gives up before it is answered is counted and logged as 499', async () => {
  stack.services.console.answer = () => undefined;
  const before = stack.services.console.requests;
  const patience = new AbortController();
  const given = fetch(`${stack.gateway.httpUrl}/w/acme`, {
    headers: { 'x-request-id': 'page-given-up' },
    signal: patience.signal,
  });
  await eventually(() => expect(stack.services.console.requests).toBe(before + 1));
  patience.abort();
  await expect(given).rejects.toThrow();
  const lines = () => stack.log.lines().filter((line) => line['request_id'] === 'page-given-up');
  await eventually(() => expect(lines()).toMatchObject([{ area: 'pages', status: 499, aborted: true }]));
  const counted = await stack.metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
  expect(counted).toContain('route="pages",status="499"');
});

it('pages are asked for on connections that are kept', async () => {
  const ports = new Set<number | undefined>();
  stack.services.console.answer = (req, res) => {
    ports.add(req.socket.remotePort);
    res.end('page');
  };
  for (let sent = 0; sent < 5; sent += 1) await http().get('/w/acme').expect(200, 'page');
  expect(ports.size).toBe(1);
});

it('a page that is asked for twice has no more listeners on its answer than Node takes for right', async () => {
  const room = Promise.withResolvers<number>();
  const onRequest = (message: unknown) => {
    const { request: req, response } = message as { request: IncomingMessage; response: ServerResponse };
    // The first listener is the gateway's; those of the console follow.
    if (req.headers['x-request-id'] !== 'listened-to') return;
    unsubscribe('http.server.request.start', onRequest);
    response.once('prefinish', () => room.resolve(response.getMaxListeners() - response.listenerCount('close')));
  };
  subscribe('http.server.request.start', onRequest);
  let asked = 0;
  stack.services.console.answer = (req, res) => void ((asked += 1) === 1 ? req.socket.destroy() : res.end('page'));
  await http().get('/w/acme').set('x-request-id', 'listened-to').expect(200, 'page');
  expect(asked).toBe(2);
  expect(await room.promise).toBeGreaterThanOrEqual(0);
});

function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** Sends exactly these bytes and reads until the connection ends. */
async function raw(bytes: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(stack.gateway.httpUrl);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const answer = Buffer.concat(await socket.toArray())
    .toString()
    .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [head = '', text = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), text };
}
