import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Seen, Stack } from './stack.fixture.ts';
import { cookieOf, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';
const EVENTS = '/api/v1/events';
const MIB = 1024 * 1024;
let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(() => {
  for (const service of Object.values(stack.services)) {
    service.answer = undefined;
    service.requests = 0;
  }
});
afterAll(() => stack.stop());

type Answering = (req: IncomingMessage, res: ServerResponse) => unknown;

/** The two ways to a service: the API uses undici, pages use http-proxy-middleware. */
const WAYS = [
  { way: 'of the API', service: 'dashboard', path: SPEND },
  { way: 'of a page', service: 'console', path: '/w/acme/agents?x=%zz' },
] as const;

function send(path: string, options: RequestOptions = {}) {
  const req = httpRequest(`${stack.gateway.httpUrl}${path}`, { headers: { cookie: cookieOf('ada') }, ...options });
  // A refused body may be cut off after the answer.
  req.on('error', () => undefined);
  return req;
}

/** Makes the service answer like this from now on. */
function answerFrom(service: keyof Stack['services'], answer: Answering): void {
  stack.services[service].answer = (req, res) => void answer(req, res);
}

async function answerOf(req: ReturnType<typeof send>): Promise<IncomingMessage> {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return res;
}

async function get(path: string, options: RequestOptions = {}): Promise<{ res: IncomingMessage; body: Buffer }> {
  const res = await answerOf(send(path, options).end());
  return { res, body: Buffer.concat(await res.toArray()) };
}

describe.each(WAYS)('an answer $way reaches the client', ({ service, path }) => {
  const answering = (answer: Answering) => answerFrom(service, answer);
  const bytes = Buffer.from(Array.from({ length: 2 * 256 }, (_, index) => index % 256));

  it.each([
    ['with a length', { 'content-length': bytes.length }],
    ['without one', {}],
  ])('byte by byte, %s', async (_name, headers) => {
    answering((_req, res) => res.writeHead(200, headers).end(bytes));
    expect((await get(path)).body).toEqual(bytes);
  });

  it('whole and in order when it comes in many pieces', async () => {
    const pieces = Array.from({ length: 200 }, (_, index) => Buffer.alloc(10_000, index));
    answering((_req, res) => Readable.from(pieces).pipe(res));
    expect((await get(path)).body.equals(Buffer.concat(pieces))).toBe(true);
  });

  it('to HEAD with the headers of GET and without a body, and the connection is good for more', async () => {
    answering((_req, res) => res.writeHead(200, { 'content-length': 17, 'x-own': 'yes' }).end());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = 0; sent < 2; sent += 1) {
      const { res, body } = await get(path, { method: 'HEAD', agent });
      expect([res.statusCode, res.headers['content-length'], res.headers['x-own'], body.length]).toEqual([
        ...[200, '17', 'yes', 0],
      ]);
    }
    agent.destroy();
  });

  it.each([204, 304])('%d without a body, and the connection is good for more', async (status) => {
    answering((_req, res) => res.writeHead(status, { etag: '"1"' }).end());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = 0; sent < 2; sent += 1) {
      const { res, body } = await get(path, { agent });
      expect([res.statusCode, res.headers['etag'], body.length]).toEqual([status, '"1"', 0]);
    }
    agent.destroy();
  });

  it('after news that the service sends ahead, which stay here', async () => {
    answering((_req, res) => {
      res.writeEarlyHints({ link: '</style.css>; rel=preload' });
      res.end('{}');
    });
    const { res, body } = await get(path);
    expect([res.statusCode, body.toString()]).toEqual([200, '{}']);
  });

  it('without its trailers and what else is between two neighbours', async () => {
    answering((_req, res) => {
      res.writeHead(200, { trailer: 'x-checksum', 'keep-alive': 'timeout=1', 'proxy-authenticate': 'Basic' });
      res.write('{}');
      res.addTrailers({ 'x-checksum': 'abc' });
      res.end();
    });
    const { res } = await get(path);
    expect(res.trailers).toEqual({});
    for (const name of ['trailer', 'proxy-authenticate']) expect(res.headers).not.toHaveProperty(name);
    expect(res.headers['keep-alive']).not.toBe('timeout=1');
  });

  it('as fast as the client reads it, with no more than the buffers on the way ahead of it', async () => {
    let produced = 0;
    const total = 64 * MIB;
    answering((_req, res) => {
      const source = new Readable({
        read() {
          produced += 64 * 1024;
          this.push(produced > total ? null : Buffer.alloc(64 * 1024));
        },
      });
      source.pipe(res);
    });
    const res = await answerOf(send(path).end());
    let before = -1;
    await eventually(() => {
      const still = produced === before;
      before = produced;
      expect(still).toBe(true);
    });
    expect(produced).toBeLessThan(total / 2);
    let read = 0;
    for await (const chunk of res) read += (chunk as Buffer).length;
    expect(read).toBe(total);
  });
});

describe('a client that disconnects', () => {
  it.each(WAYS)(
    'takes its request $way to the service with it, before the answer and in the middle of it, which is no failure',
    async ({ service, path }) => {
      const failures = () => stack.log.text().split('request failed').length;
      const before = failures();
      for (const begin of [() => undefined, (res: ServerResponse) => res.writeHead(200).write('half')]) {
        const left = Promise.withResolvers<void>();
        answerFrom(service, (_req, res) => {
          res.on('close', () => left.resolve());
          begin(res);
        });
        const req = send(path).end();
        await eventually(() => expect(stack.services[service].requests).toBe(1));
        req.destroy();
        await left.promise;
        stack.services[service].requests = 0;
      }
      expect(failures()).toBe(before);
    },
  );

  it('in the middle of its body leaves the service without the rest', async () => {
    const left = Promise.withResolvers<void>();
    stack.services.ingest.answer = (req) => void req.on('close', () => left.resolve()).resume();
    const req = send(EVENTS, { method: 'POST', headers: { 'content-length': 4 * MIB } });
    req.write(Buffer.alloc(3 * MIB, 'x'));
    await eventually(() => expect(stack.services.ingest.requests).toBe(1));
    req.destroy();
    await left.promise;
  });
});

describe('a service', () => {
  it.each(WAYS)(
    'that falls silent in the middle of its answer $way has it cut off, with no made-up end',
    async ({ service, path }) => {
      const impatient = await startStack({ UPSTREAM_TIMEOUT_MS: '100' });
      impatient.services[service].answer = (_req, res) => void res.writeHead(200).write('half');
      const answer = await fetch(`${impatient.gateway.httpUrl}${path}`, { headers: { cookie: cookieOf('ada') } });
      await expect(answer.text()).rejects.toThrow();
      await impatient.stop();
    },
  );

  it.each(WAYS)(
    'that breaks off in the middle of its answer $way has it cut off, with no made-up end, and is asked once',
    async ({ service, path }) => {
      answerFrom(service, (req, res) => {
        res.writeHead(200, { 'content-length': '100' }).write('half');
        setImmediate(() => req.socket.destroy());
      });
      const answer = await fetch(`${stack.gateway.httpUrl}${path}`, { headers: { cookie: cookieOf('ada') } });
      await expect(answer.text()).rejects.toThrow();
      expect(stack.services[service].requests).toBe(1);
    },
  );

  it.each(WAYS)(
    'that stays silent before an answer $way is 504 with Retry-After, and is asked once',
    async ({ service, path }) => {
      const impatient = await startStack({ UPSTREAM_TIMEOUT_MS: '100' });
      impatient.services[service].answer = () => undefined;
      const answer = await fetch(`${impatient.gateway.httpUrl}${path}`, { headers: { cookie: cookieOf('ada') } });
      const { code } = (await answer.json()) as { code: string };
      expect([answer.status, code, answer.headers.get('retry-after')]).toEqual([504, 'upstream_timeout', '5']);
      expect(impatient.services[service].requests).toBe(1);
      await impatient.stop();
    },
  );

  it.each(WAYS)(
    'that waits for a client which reads nothing of its answer $way is not taken for silent',
    async ({ service, path }) => {
      const impatient = await startStack({ UPSTREAM_TIMEOUT_MS: '2000' });
      const total = 32 * MIB;
      let produced = 0;
      impatient.services[service].answer = (_req, res) =>
        void new Readable({
          read() {
            produced += 64 * 1024;
            this.push(produced > total ? null : Buffer.alloc(64 * 1024));
          },
        }).pipe(res);
      const { port } = new URL(impatient.gateway.httpUrl);
      const res = await answerOf(send(path, { host: '127.0.0.1', port, headers: { cookie: cookieOf('ada') } }).end());
      // Together longer than the allowed silence: this many checks take five seconds.
      let looks = 0;
      await eventually(() => expect((looks += 1)).toBeGreaterThan(72));
      expect(produced).toBeLessThan(total);
      let read = 0;
      try {
        for await (const chunk of res) read += (chunk as Buffer).length;
      } finally {
        await impatient.stop();
      }
      expect(read).toBe(total);
    },
  );

  it.each(WAYS)('that closes each connection unanswered gets a read $way twice at most', async ({ service, path }) => {
    answerFrom(service, (req) => req.socket.destroy());
    expect((await get(path)).res.statusCode).toBe(503);
    expect(stack.services[service].requests).toBe(2);
  });

  it('that closes each connection unanswered gets a write once', async () => {
    answerFrom('ingest', (req) => req.socket.destroy());
    expect((await answerOf(send(EVENTS, { method: 'POST' }).end('{}'))).statusCode).toBe(503);
    expect((await answerOf(send(EVENTS, { method: 'POST' }).end())).statusCode).toBe(503);
    expect(stack.services.ingest.requests).toBe(2);
  });

  it('that closes the connection under a read with a body gets it once, as the body is gone', async () => {
    answerFrom('dashboard', (req) => req.socket.destroy());
    const headers = { cookie: cookieOf('ada'), 'content-type': 'application/json', 'content-length': 2 };
    expect((await answerOf(send(SPEND, { headers }).end('{}'))).statusCode).toBe(503);
    expect(stack.services.dashboard.requests).toBe(1);
  });

  it('that answers before a large body is through is heard, and the connection is good for the next request', async () => {
    stack.services.ingest.answer = (_req, res) => void res.writeHead(401).end('{}');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const headers of [{ 'content-length': 5 * MIB }, { 'transfer-encoding': 'chunked' }]) {
      const refused = await answerOf(send(EVENTS, { method: 'POST', agent, headers }).end(Buffer.alloc(5 * MIB)));
      expect(refused.statusCode).toBe(401);
      await refused.toArray();
      expect((await get(SPEND, { agent })).res.statusCode).toBe(200);
    }
    agent.destroy();
  });

  it('gets nothing of a body that turns out too large here, whose connection ends, as more of it may come', async () => {
    const agent = new Agent({ keepAlive: true });
    const headers = { cookie: cookieOf('ada'), 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const request = send('/w/acme/api/v1/agents', { method: 'POST', agent, headers }).end(Buffer.alloc(MIB + 1));
    const refused = await answerOf(request);
    expect([refused.statusCode, refused.headers['connection']]).toEqual([413, 'close']);
    expect(stack.services.identity.requests).toBe(0);
    agent.destroy();
  });

  it('gets a body for which its client waits for 100 Continue, and does not get to see that', async () => {
    const req = send(EVENTS, { method: 'POST', headers: { expect: '100-continue', 'content-length': 2 } });
    req.flushHeaders();
    await once(req, 'continue');
    const seen = JSON.parse(Buffer.concat(await (await answerOf(req.end('{}'))).toArray()).toString()) as Seen;
    expect([seen.body, seen.headers['content-length']]).toEqual(['{}', '2']);
    expect(seen.headers).not.toHaveProperty('expect');
  });

  it.each(['GET', 'DELETE', 'OPTIONS'])(
    'gets the body of a %s as well, whether its client says the length or not',
    async (method) => {
      for (const framing of [{ 'content-length': '2' }, { 'transfer-encoding': 'chunked' }]) {
        const headers = { cookie: cookieOf('ada'), 'content-type': 'application/json', ...framing };
        const res = await answerOf(send('/w/acme/api/v1/agents', { method, headers }).end('{}'));
        const seen = JSON.parse(Buffer.concat(await res.toArray()).toString()) as Seen;
        expect([seen.method, seen.body]).toEqual([method, '{}']);
        expect(seen.headers).toMatchObject({ 'content-length': '2' });
      }
    },
  );

  it('gets the length of a streamed body with it where its client says the length, and else none', async () => {
    const body = Buffer.alloc(MIB, ' ');
    const lengths = [];
    for (const framing of [{ 'content-length': `${MIB}` }, { 'transfer-encoding': 'chunked' }]) {
      const res = await answerOf(send(EVENTS, { method: 'POST', headers: framing }).end(body));
      const { headers } = JSON.parse(Buffer.concat(await res.toArray()).toString()) as Seen;
      lengths.push([headers['content-length'], headers['transfer-encoding']]);
    }
    expect(lengths).toEqual([
      [`${MIB}`, undefined],
      [undefined, 'chunked'],
    ]);
  });

  it('never gets to speak another protocol with a client that asks for it', async () => {
    const { hostname, port } = new URL(stack.gateway.httpUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${SPEND} HTTP/1.1\r\nhost: x\r\ncookie: ${cookieOf('ada')}\r\n` +
        'connection: upgrade, close\r\nupgrade: websocket\r\n\r\n',
    );
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(text).not.toContain('"upgrade"');
  });
});

describe.each(WAYS)('a service that answers nothing $way', ({ service, path }) => {
  it('gets 1,024 requests at a time, the next is asked to retry, and another service answers', async () => {
    const wide = await startStack({ IN_FLIGHT_PER_SENDER: '1024', IN_FLIGHT_PER_ADDRESS: '4096' });
    const agent = new Agent({ maxSockets: Infinity });
    const to = (path: string, session: string) =>
      send(path, {
        agent,
        host: '127.0.0.1',
        port: new URL(wide.gateway.httpUrl).port,
        headers: { cookie: cookieOf(session) },
      }).end();
    try {
      let reached = 0;
      wide.services[service].answer = () => void (reached += 1);
      for (let sent = 0; sent < 1024; sent += 1) to(path, 'ada');
      await eventually(() => expect(reached).toBe(1024));

      const refused = await answerOf(to(path, 'adam'));
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
      expect(reached).toBe(1024);
      expect((await answerOf(to('/w/acme/api/v1/alerts/rules', 'adam'))).statusCode).toBe(200);
    } finally {
      agent.destroy();
      await wide.stop();
    }
  });
});
