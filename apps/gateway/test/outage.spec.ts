import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Stack } from './stack.fixture.ts';
import { cookieOf, memberOfAcme, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(env: Record<string, string> = {}): Promise<Stack> {
  const stack = await startStack(env);
  cleanUps.push(() => stack.stop());
  return stack;
}

interface Answer {
  status: number | undefined;
  retryAfter: string | undefined;
  body: { code?: string };
}

async function send(url: string, options: RequestOptions & { body?: Buffer | string } = {}): Promise<Answer> {
  const { body, ...rest } = options;
  const req = httpRequest(url, { headers: { cookie: cookieOf('ada') }, ...rest });
  // A refused body may be cut off after the answer.
  req.on('error', () => undefined);
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const text = (await res.toArray()).join('');
  return { status: res.statusCode, retryAfter: res.headers['retry-after'], body: text === '' ? {} : JSON.parse(text) };
}

/** A service that closes each connection during its second request, as a service that is just stopping does. */
async function startLeaving(): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const served = new WeakSet<object>();
  const server = createServer((req, res) => {
    requests += 1;
    if (served.has(req.socket)) return void req.socket.destroy();
    served.add(req.socket);
    req.resume().on('end', () => res.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}

describe('a service that goes away', () => {
  it.each([SPEND, '/assets/app.js'])(
    'under a read on a kept connection: the read is sent again on a new one (%s)',
    async (path) => {
      const leaving = await startLeaving();
      const { gateway } = await start({ DASHBOARD_HTTP: leaving.url, CONSOLE_HTTP: leaving.url });
      expect((await send(`${gateway.httpUrl}${path}`)).status).toBe(200);
      expect((await send(`${gateway.httpUrl}${path}`)).status).toBe(200);
      expect(leaving.requests()).toBe(3);
    },
  );

  it('under pages: 503 with Retry-After and without its address, and no place is kept for them', async () => {
    const stack = await start();
    const page = () => send(`${stack.gateway.httpUrl}/w/acme`, { headers: {} });
    stack.services.console.answer = (req) => void req.socket.destroy();
    for (let sent = 0; sent < 1040; sent += 40) await Promise.all(Array.from({ length: 40 }, page));
    stack.services.console.answer = undefined;
    expect((await page()).status).toBe(200);
    await stack.services.console.close();
    const answer = await page();
    expect(answer).toMatchObject({ status: 503, retryAfter: '5', body: { code: 'service_unavailable' } });
    expect(JSON.stringify(answer.body)).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
  });

  it('under a write on a kept connection: it is not sent twice, and the client is asked to retry', async () => {
    const leaving = await startLeaving();
    const { gateway } = await start({ INGEST_HTTP: leaving.url });
    const post = () => send(`${gateway.httpUrl}/api/v1/events`, { method: 'POST', headers: {}, body: '{}' });
    expect((await post()).status).toBe(200);
    expect(await post()).toMatchObject({ status: 503, retryAfter: '5', body: { code: 'service_unavailable' } });
    expect(leaving.requests()).toBe(2);
  });

  it('keeps no place for what it broke off: after more of that than may be in flight, the next is answered', async () => {
    const stack = await start();
    const post = () => send(`${stack.gateway.httpUrl}/api/v1/events`, { method: 'POST', headers: {}, body: '{}' });
    stack.services.ingest.answer = (req) => void req.socket.destroy();
    for (let sent = 0; sent < 1040; sent += 40) await Promise.all(Array.from({ length: 40 }, post));
    expect(stack.services.ingest.requests).toBe(1040);
    stack.services.ingest.answer = undefined;
    expect((await post()).status).toBe(200);
  });

  it('before a large body is through: 503, and the connection is good for the next request', async () => {
    const stack = await start();
    await stack.services.ingest.close();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanUps.push(() => agent.destroy());
    const body = Buffer.alloc(4 * 1024 * 1024, 'x');
    for (const headers of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
      const events = { method: 'POST', agent, headers, body };
      expect(await send(`${stack.gateway.httpUrl}/api/v1/events`, events)).toMatchObject({
        status: 503,
        retryAfter: '5',
      });
      expect((await send(`${stack.gateway.httpUrl}${SPEND}`, { agent })).status).toBe(200);
    }
  });
});

describe('a service that hangs', () => {
  it('takes up a bounded number of requests; more are 503 at once, other services are as well as ever, and so is it later', async () => {
    const stack = await start();
    const release = Promise.withResolvers<void>();
    stack.services.dashboard.answer = (_req, res) => void release.promise.then(() => res.end('{}'));
    const agent = new Agent();
    const people = Array.from({ length: 8 }, (_, i) => ({ name: `member-${i}`, localAddress: `127.0.0.${i + 2}` }));
    for (const { name } of people) stack.identity.sessions.set(name, memberOfAcme(name));
    const waiting = Array.from({ length: 1024 }, (_, i) => {
      const { name, localAddress } = people[i % people.length] as (typeof people)[number];
      return send(`${stack.gateway.httpUrl}${SPEND}`, { agent, localAddress, headers: { cookie: cookieOf(name) } });
    });
    await eventually(() => expect(stack.services.dashboard.requests).toBe(1024));

    const refused = await send(`${stack.gateway.httpUrl}${SPEND}`);
    expect(refused).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'service_unavailable' } });
    expect((await send(`${stack.gateway.httpUrl}/w/acme/api/v1/agents`)).status).toBe(200);
    release.resolve();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await send(`${stack.gateway.httpUrl}${SPEND}`)).status).toBe(200);
  });
});
