import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Stack } from './stack.fixture.ts';
import { cookieOf, memberOfAcme, startStack } from './stack.fixture.ts';

const MIB = 1024 * 1024;
const SPEND = '/w/acme/api/v1/dashboard/spend';
const AGENTS = '/w/acme/api/v1/agents';
const EVENTS = '/api/v1/events';
const INTAKE = '/api/v1/intake/litellm';
const LOGIN = '/api/v1/auth/login';

let stack: Stack;
const sockets: Socket[] = [];
/** Aborts the requests of `sendAndForget`. */
let forgotten = new AbortController();
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  forgotten.abort();
  forgotten = new AbortController();
  await stack.stop();
});

/** The address of the nth of 240 senders. */
const addressOf = (n: number): string => `127.0.0.${(n % 240) + 2}`;

interface Begun {
  path: string;
  /** Further headers besides `Host` and `Content-Type`. */
  head: string;
  localAddress?: string;
  body?: Buffer | string;
}

/** Sends the head of a request, and of its body only `body`. */
function begin({ path, head, localAddress = '127.0.0.1', body = '{' }: Begun): Socket {
  const socket = connect({ port: Number(new URL(stack.gateway.httpUrl).port), host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined).resume());
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${head}\r\n\r\n`);
  socket.write(body);
  return socket;
}

/** Starts many requests, a few at a time: a busy listener drops connections, which are retried only after seconds. */
async function beginMany(count: number, toBegin: (n: number) => Begun): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    begin({ localAddress: addressOf(i), ...toBegin(i) });
    if (i % 100 === 99) await eventually(async () => expect(await metric('http_server_connections')).toBe(i + 1));
  }
}

interface Answer {
  status: number | undefined;
  retryAfter: string | undefined;
}

async function send(path: string, options: RequestOptions & { body?: Buffer | string } = {}): Promise<Answer> {
  const { body, ...rest } = options;
  const req = httpRequest(`${stack.gateway.httpUrl}${path}`, { agent: false, ...rest });
  req.on('error', () => undefined).end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  await res.toArray();
  return { status: res.statusCode, retryAfter: res.headers['retry-after'] };
}

/** Sends other people's requests, and returns the statuses. */
async function others(): Promise<(number | undefined)[]> {
  const mia = { headers: { cookie: cookieOf('mia') } };
  const json = { 'content-type': 'application/json' };
  const answers = await Promise.all([
    send('/api/v1/auth/me', mia),
    send('/api/v1/workspaces', mia),
    send(SPEND, mia),
    send(LOGIN, { method: 'POST', headers: json, body: '{}', localAddress: '127.0.0.250' }),
    send(EVENTS, { method: 'POST', headers: { ...json, authorization: 'Bearer other' }, body: '{}' }),
  ]);
  return answers.map(({ status }) => status);
}

/** Sends requests whose answers nobody awaits. */
function sendAndForget(count: number, path: string, options: RequestOptions & { body?: string }): void {
  const { signal } = forgotten;
  for (let i = 0; i < count; i += 1) send(path, { ...options, signal }).catch(() => undefined);
}

async function metric(name: string): Promise<number> {
  const text = await stack.metrics.registry.getSingleMetricAsString(name);
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Total requests received by the services. */
const forwarded = (): number => Object.values(stack.services).reduce((sum, { requests }) => sum + requests, 0);

describe('1030 connections that send a head and one byte of a body', () => {
  it.each([
    ['with one session', AGENTS, `Cookie: ${cookieOf('ada')}`, 256],
    ['with one key', EVENTS, 'Authorization: Bearer one', 256],
    ['with the id of a user as a key', EVENTS, 'Authorization: Bearer user_mia', 256],
    ['with nothing, at log-in', LOGIN, 'X-Nothing: 0', 1030],
  ])('%s lock no one out, and take no place at a service', async (_name, path, head, held) => {
    stack = await startStack();
    await beginMany(1030, () => ({ path, head: `${head}\r\nContent-Length: 100` }));
    await eventually(async () => {
      expect(await metric('http_server_body_bytes')).toBe(held * 513);
      expect(await metric('http_server_refused_total')).toBe(1030 - held);
    });
    expect(await others()).toEqual([200, 200, 200, 200, 200]);
    expect(forwarded()).toBe(5);
  });
});

describe('large bodies that stall', () => {
  it('stay within the budget of their service, and leave places there and room to others', async () => {
    stack = await startStack();
    const body = Buffer.alloc(MIB - 1, ' ');
    for (let i = 0; i < 400; i += 1) {
      const head = `Authorization: Bearer key-${i}\r\nContent-Length: ${MIB}`;
      begin({ path: EVENTS, head, localAddress: addressOf(i), body });
    }
    await eventually(async () => {
      expect(await metric('http_server_refused_total')).toBeGreaterThan(0);
      expect(await metric('http_server_body_bytes')).toBeGreaterThan(11 * MIB);
    });
    expect(await metric('http_server_body_bytes')).toBeLessThanOrEqual(16 * MIB);
    expect(await others()).toEqual([200, 200, 200, 200, 200]);
    // By then these bodies have stalled, and one of them loses its place.
    const large = { method: 'POST', headers: { authorization: 'Bearer other' }, body: Buffer.alloc(MIB, ' ') };
    await eventually(async () => expect((await send(EVENTS, large)).status).toBe(200));
  });
});

describe('bodies of one address', () => {
  it('take half of the budget of their service at most, and leave the rest to others', async () => {
    stack = await startStack();
    const cookie = cookieOf('ada');
    const body = Buffer.alloc(MIB - 1, ' ');
    for (let i = 0; i < 20; i += 1) {
      begin({ path: AGENTS, head: `Cookie: ${cookie}\r\nContent-Length: ${MIB}`, body });
    }
    await eventually(async () => expect(await metric('http_server_refused_total')).toBeGreaterThanOrEqual(12));
    expect(await metric('http_server_body_bytes')).toBeLessThanOrEqual(8 * MIB);
    const headers = { cookie, 'content-type': 'application/json' };
    const large = { method: 'POST', headers, body: Buffer.alloc(MIB, ' ') };
    expect((await send(AGENTS, { ...large, localAddress: '127.0.0.250' })).status).toBe(200);
  });
});

describe('a body whose service has not answered yet, and that gives back all its room when it has,', () => {
  const json = { 'content-type': 'application/json' };
  const event = { method: 'POST', headers: { ...json, authorization: 'Bearer one' } };

  it.each<[string, string, RequestOptions & { body: string }, number, number]>([
    ['holds no room when it is small', EVENTS, { ...event, body: '{}' }, 0, 0],
    ['holds no room once it is passed on', EVENTS, { ...event, body: ' '.repeat(MIB) }, 0, 0],
    [
      'holds its room as long as all of it is held',
      AGENTS,
      { method: 'POST', headers: { ...json, cookie: cookieOf('ada') }, body: ' '.repeat(100_000) },
      100_000,
      200_000,
    ],
  ])('%s', async (_what, path, request, least, most) => {
    stack = await startStack();
    const answers: ServerResponse[] = [];
    for (const service of Object.values(stack.services)) {
      service.answer = (req, res) => {
        req.resume();
        answers.push(res);
      };
    }
    sendAndForget(1, path, request);
    await eventually(async () => {
      expect(forwarded()).toBe(1);
      const held = await metric('http_server_body_bytes');
      expect(held).toBeGreaterThanOrEqual(least);
      expect(held).toBeLessThanOrEqual(most);
    });
    for (const answer of answers) answer.end();
    await eventually(async () => expect(await metric('http_server_body_bytes')).toBe(0));
  });
});

describe('what one sender may have in progress', () => {
  const asAda = { headers: { cookie: cookieOf('ada') } };
  const withKey = (key: string, body = '{}') => ({ method: 'POST', headers: { authorization: `Bearer ${key}` }, body });

  it('is bounded for a user, whatever the session, and for a key: more is 429 with Retry-After, and others continue', async () => {
    stack = await startStack({ IN_FLIGHT_PER_SENDER: '4' });
    stack.identity.sessions.set('ada-again', memberOfAcme('user_ada'));
    for (const service of Object.values(stack.services)) service.answer = () => undefined;
    for (const name of ['ada', 'ada-again']) {
      // Where sessions are required, a key has no effect.
      sendAndForget(2, SPEND, { headers: { cookie: cookieOf(name), authorization: 'Bearer one' } });
    }
    sendAndForget(2, EVENTS, withKey('one'));
    sendAndForget(2, EVENTS, { method: 'POST', headers: { authorization: 'bearer  one' }, body: '{}' });
    await eventually(() => expect(forwarded()).toBe(8));
    for (const service of Object.values(stack.services)) service.answer = undefined;

    expect(await send(SPEND, asAda)).toEqual({ status: 429, retryAfter: '1' });
    expect(await send(EVENTS, withKey('one'))).toEqual({ status: 429, retryAfter: '1' });
    expect((await send('/api/v1/reservations', withKey('one'))).status).toBe(200);
    expect(await others()).toEqual([200, 200, 200, 200, 200]);
  });

  it('is bounded for an address, with a session or without: that of the client where proxies are trusted', async () => {
    stack = await startStack({ IN_FLIGHT_PER_ADDRESS: '2', TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string) => ({ headers: { ...asAda.headers, 'x-forwarded-for': address } });
    stack.services.dashboard.answer = () => undefined;
    sendAndForget(2, SPEND, from('2001:db8::1'));
    await eventually(() => expect(forwarded()).toBe(2));
    stack.services.dashboard.answer = undefined;

    expect(await send(SPEND, from('2001:db8::2'))).toEqual({ status: 429, retryAfter: '1' });
    expect((await send(SPEND, from('2001:db8:0:1::1'))).status).toBe(200);
  });

  it.each([
    ['a key', 'IN_FLIGHT_PER_SENDER'],
    ['an address', 'IN_FLIGHT_PER_ADDRESS'],
  ])(
    'is refused to %s with 503 where the callback of LiteLLM reports, which drops its batch after 429',
    async (_of, limit) => {
      stack = await startStack({ [limit]: '2' });
      stack.services.ingest.answer = () => undefined;
      sendAndForget(2, INTAKE, withKey('one'));
      await eventually(() => expect(forwarded()).toBe(2));
      expect(await send(INTAKE, withKey('one'))).toEqual({ status: 503, retryAfter: '1' });
    },
  );

  it('is bounded for an address at the documentation too, and others read that meanwhile', async () => {
    stack = await startStack({ IN_FLIGHT_PER_ADDRESS: '2' });
    const held: ServerResponse[] = [];
    stack.services.keys.answer = (_req, res) => void held.push(res);
    sendAndForget(2, '/openapi.json', {});
    await eventually(async () => expect(await send('/docs')).toEqual({ status: 429, retryAfter: '1' }));
    expect((await send('/docs', { localAddress: '127.0.0.250' })).status).toBe(200);
    for (const res of held) res.end('{}');
    await eventually(async () => expect((await send('/docs')).status).toBe(200));
  });

  it('is bounded for an address by the bytes of pages and documents; its API and other addresses continue', async () => {
    stack = await startStack({ PUBLIC_BYTES_PER_SECOND: '1000' });
    const elsewhere = { localAddress: '127.0.0.250' };
    expect((await send('/docs/swagger-ui.css')).status).toBe(200);
    await eventually(async () => expect((await send('/docs')).status).toBe(429));
    expect((await send('/')).status).toBe(429);
    expect((await send(SPEND, asAda)).status).toBe(200);
    expect([await send('/docs', elsewhere), await send('/', elsewhere)].map(({ status }) => status)).toEqual([
      200, 200,
    ]);
    expect(await metric('http_server_refused_total')).toBeGreaterThanOrEqual(2);
  });

  it('is given back however a request ends', async () => {
    stack = await startStack({ IN_FLIGHT_PER_SENDER: '1', IN_FLIGHT_PER_ADDRESS: '1', UPSTREAM_TIMEOUT_MS: '100' });
    const { ingest } = stack.services;
    const head = 'Authorization: Bearer one\r\nContent-Length: 100';
    const isFree = () => eventually(async () => expect((await send(EVENTS, withKey('one'))).status).toBe(200));
    const endings: Record<string, () => Promise<unknown>> = {
      answered: () => send(EVENTS, withKey('one')),
      'its service breaks off': async () => {
        ingest.answer = (req) => void req.socket.destroy();
        expect((await send(EVENTS, withKey('one'))).status).toBe(503);
      },
      'its service stays silent': async () => {
        ingest.answer = () => undefined;
        expect((await send(EVENTS, withKey('one'))).status).toBe(503);
      },
      'refused for its length': async () => {
        expect((await send(EVENTS, { ...withKey('one'), body: Buffer.alloc(5 * MIB + 1) })).status).toBe(413);
      },
      'its client goes before its body': async () => {
        const socket = begin({ path: EVENTS, head });
        await eventually(async () => expect(await metric('http_server_body_bytes')).toBe(513));
        socket.destroy();
        await eventually(async () => expect(await metric('http_server_body_bytes')).toBe(0));
      },
      'its client goes before the answer': async () => {
        const arrived = Promise.withResolvers<void>();
        const left = Promise.withResolvers<void>();
        ingest.answer = (req) => {
          arrived.resolve();
          req.socket.once('close', () => left.resolve());
        };
        const socket = begin({ path: EVENTS, head, body: Buffer.alloc(100, ' ') });
        await arrived.promise;
        socket.destroy();
        await left.promise;
      },
      'its client goes, with more sent ahead': async () => {
        const arrived = Promise.withResolvers<void>();
        ingest.answer = () => arrived.resolve();
        const next = `POST ${EVENTS} HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${' '.repeat(100)}`;
        const socket = begin({ path: EVENTS, head, body: Buffer.from(' '.repeat(100) + next.repeat(10)) });
        await arrived.promise;
        socket.destroy();
      },
    };
    for (const end of Object.values(endings)) {
      await isFree();
      await end();
      ingest.answer = undefined;
    }
    await isFree();
  });
});
