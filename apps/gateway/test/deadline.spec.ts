import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { halt } from '@tollkeeper/managed-process';
import { eventually } from '@tollkeeper/testing';
import { AT_ONCE_PER_SENDER } from '../src/http/forward.ts';
import type { Seen, Stack } from './stack.fixture.ts';
import { cookieOf, startStack } from './stack.fixture.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A gateway that would wait longer than the test timeout, except for the deadline of the area. */
async function start(env: Record<string, string> = {}): Promise<Stack> {
  const stack = await startStack({ UPSTREAM_TIMEOUT_MS: '300000', ...env });
  cleanUps.push(() => stack.stop());
  return stack;
}

async function send(stack: Stack, method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: Buffer) {
  const req = httpRequest(`${stack.gateway.httpUrl}${path}`, { method, agent: false, headers });
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const text = (await res.toArray()).join('');
  return { status: res.statusCode, retryAfter: res.headers['retry-after'], body: JSON.parse(text) as object };
}

const reserve = (stack: Stack, key = 'key') => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return send(stack, 'POST', '/api/v1/reservations', headers, Buffer.from('{}'));
};

const LATE = { status: 503, retryAfter: '1', body: { code: 'service_unavailable' } };

/** A service in a process of its own, which can be halted as a machine halts it. */
async function startProcess(): Promise<{ url: string; port: number; pid: number }> {
  const script = `
    const server = require('node:http').createServer((req, res) => req.resume().on('end', () => res.end('{}')));
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, ['--eval', script], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUps.push(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  return { url: `http://127.0.0.1:${port}`, port, pid: child.pid! };
}

/** Fills the queue of connections that the system accepts for a halted process. */
async function fillBacklog(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    cleanUps.push(() => socket.destroy());
    const connected = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, 500, false)),
    ]);
    if (!connected) return;
  }
}

describe('where an area gives its service a time', () => {
  it('one that never answers is asked once, and broken off; the client gets 503 and when to come again', async () => {
    const stack = await start();
    const left = Promise.withResolvers<void>();
    stack.services.enforcer.answer = (_req, res) => void res.on('close', () => left.resolve());
    expect(await reserve(stack)).toMatchObject(LATE);
    await left.promise;
    expect(stack.services.enforcer.requests).toBe(1);
    stack.services.enforcer.answer = undefined;
    expect(await reserve(stack)).toMatchObject({ status: 200 });
  });

  it('other areas of the same service give it more', async () => {
    const stack = await start();
    const release = Promise.withResolvers<void>();
    stack.services.enforcer.answer = (_req, res) => void release.promise.then(() => res.end('{}'));
    const limits = send(stack, 'GET', '/w/acme/api/v1/limits', { cookie: cookieOf('mia') });
    await eventually(() => expect(stack.services.enforcer.requests).toBe(1));
    expect(await reserve(stack)).toMatchObject(LATE);
    release.resolve();
    expect(await limits).toMatchObject({ status: 200 });
  });

  it('one whose process is halted is late on a kept connection, on a new one and on one that is not accepted', async () => {
    const halted = await startProcess();
    const stack = await start({ ENFORCER_HTTP: halted.url });
    expect(await reserve(stack)).toMatchObject({ status: 200 });
    await halt(halted.pid);
    expect(await reserve(stack)).toMatchObject(LATE);
    expect(await reserve(stack)).toMatchObject(LATE);
    await fillBacklog(halted.port);
    expect(await reserve(stack)).toMatchObject(LATE);
    process.kill(halted.pid, 'SIGCONT');
    await eventually(async () => expect(await reserve(stack)).toMatchObject({ status: 200 }));
  });

  it('reports of calls, also in a body that is passed on as it arrives, are 503 if the process of ingest is halted, and are taken afterwards', async () => {
    const halted = await startProcess();
    const stack = await start({ INGEST_HTTP: halted.url });
    const report = async (body: Buffer<ArrayBuffer>) => {
      const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
      const answer = await fetch(`${stack.gateway.httpUrl}/v1/traces`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return [answer.status, answer.headers.get('retry-after')];
    };
    const reports = () => Promise.all([Buffer.from('{}'), Buffer.alloc(8 * 1024 * 1024)].map(report));
    const late = [503, '1'];
    await halt(halted.pid);
    // The first ones need connections.
    expect([await reports(), await reports()]).toEqual([
      [late, late],
      [late, late],
    ]);
    process.kill(halted.pid, 'SIGCONT');
    const taken = [200, null];
    await eventually(async () => expect(await reports()).toEqual([taken, taken]));
  });

  it('one that refuses connections is 503 at once', async () => {
    const stack = await start();
    await stack.services.enforcer.close();
    const { status, retryAfter } = await reserve(stack);
    expect([status, Number(retryAfter) > 0]).toEqual([503, true]);
  });

  it('one that falls silent in the middle of its answer has it cut off, with no made-up end', async () => {
    const stack = await start();
    stack.services.enforcer.answer = (_req, res) => void res.writeHead(200, { 'content-length': 100 }).write('half');
    const answer = await fetch(`${stack.gateway.httpUrl}/api/v1/reservations/rsv_1`);
    await expect(answer.text()).rejects.toThrow();
  });

  it('a silence that is shorter still, by the settings, is reported in the same way', async () => {
    const stack = await start({ UPSTREAM_TIMEOUT_MS: '100' });
    stack.services.enforcer.answer = () => undefined;
    expect(await reserve(stack)).toMatchObject(LATE);
  });

  it('a body is complete before it is sent on, so that the time of the client is none of that of the service', async () => {
    const stack = await start();
    const body = Buffer.alloc(200_000, 'x');
    const answer = await send(stack, 'POST', '/api/v1/reservations', { 'transfer-encoding': 'chunked' }, body);
    const { headers } = answer.body as Seen;
    expect(headers).toMatchObject({ 'content-length': String(body.length) });
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('the requests of one sender wait for each other, and those of another one do not wait for them', async () => {
    // Again if the machine is too busy for all of it within the deadline.
    await eventually(async () => {
      const stack = await start();
      const { enforcer } = stack.services;
      const held: ServerResponse[] = [];
      enforcer.answer = (_req, res) => void held.push(res);
      const many = Array.from({ length: 2 * AT_ONCE_PER_SENDER }, () => reserve(stack, 'one'));
      await eventually(() => expect(held).toHaveLength(AT_ONCE_PER_SENDER));
      enforcer.answer = undefined;
      expect(await reserve(stack, 'another')).toMatchObject({ status: 200 });
      expect(enforcer.requests).toBe(AT_ONCE_PER_SENDER + 1);
      for (const res of held) res.end('{}');
      expect((await Promise.all(many)).map(({ status }) => status)).toEqual(many.map(() => 200));
    });
  });

  it('a request that waits too long for others of its sender gets 503, and its service never sees it', async () => {
    const stack = await start();
    const { enforcer } = stack.services;
    enforcer.answer = () => undefined;
    const many = Array.from({ length: AT_ONCE_PER_SENDER + 1 }, () => reserve(stack, 'one'));
    expect(await Promise.race(many)).toMatchObject(LATE);
    expect(enforcer.requests).toBe(AT_ONCE_PER_SENDER);
    await Promise.all(many);
    expect(enforcer.requests).toBe(AT_ONCE_PER_SENDER);
  });

  it('a client that leaves while it waits for others of its sender takes no turn of theirs', async () => {
    const stack = await start();
    const { enforcer } = stack.services;
    const held: ServerResponse[] = [];
    enforcer.answer = (_req, res) => void held.push(res);
    const many = Array.from({ length: AT_ONCE_PER_SENDER }, () => reserve(stack, 'one'));
    await eventually(() => expect(held).toHaveLength(AT_ONCE_PER_SENDER));
    const leaving = fetch(`${stack.gateway.httpUrl}/api/v1/reservations/rsv_1`, {
      headers: { authorization: 'Bearer one' },
      signal: AbortSignal.timeout(100),
    });
    await expect(leaving).rejects.toThrow();
    const next = reserve(stack, 'one');
    held.pop()!.end('{}');
    await eventually(() => expect(enforcer.requests).toBe(AT_ONCE_PER_SENDER + 1));
    for (const res of held) res.end('{}');
    expect(await next).toMatchObject({ status: 200 });
    await Promise.all(many);
    expect(enforcer.requests).toBe(AT_ONCE_PER_SENDER + 1);
  });
});
