import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetrics, type Metrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import request from 'supertest';
import { z } from 'zod';
import { createBodyBudget, createHttpServer, defineRoute, type HttpListener, type RequestFacts } from '../src/index.ts';
import { quietServer } from './api.fixture.ts';

const BUDGET_BYTES = 100_000;
const LIMIT_BYTES = 5 * 1024 * 1024;

describe('the bodies of all requests in flight', () => {
  let reached: PromiseWithResolvers<void>;
  let released: PromiseWithResolvers<void>;
  let server: HttpListener;
  let sockets: Socket[];
  let port: number;
  let metrics: Metrics;

  const text = {
    method: 'post',
    audit: { unaudited: 'A test' },
    tag: 'Test',
    summary: 'Test',
    body: z.strictObject({ text: z.string() }),
    responses: { 204: { description: 'Taken' } },
  } as const;
  let authenticated: number;

  beforeEach(async () => {
    reached = Promise.withResolvers();
    released = Promise.withResolvers();
    sockets = [];
    authenticated = 0;
    metrics = createMetrics('test');
    const handler = async () => ({ status: 204 as const });
    const access = {
      scheme: 'workspaceKey' as const,
      authenticate: async ({ headers }: RequestFacts) => {
        authenticated += 1;
        return headers.authorization ?? 'slow';
      },
      senderOf: (sender: string) => sender,
    };
    server = createHttpServer({
      ...quietServer,
      routes: [
        defineRoute({ ...text, path: '/texts', operationId: 'postText', access, handler }),
        defineRoute({
          ...text,
          path: '/held',
          operationId: 'postHeld',
          access: 'public',
          handler: async () => {
            reached.resolve();
            await released.promise;
            return { status: 204 };
          },
        }),
      ],
      metrics,
      bodyLimitBytes: LIMIT_BYTES,
      bodyBudgetBytes: BUDGET_BYTES,
    });
    await server.start();
    port = Number(new URL(server.url).port);
  });
  afterEach(async () => {
    released.resolve();
    for (const socket of sockets) socket.destroy();
    await server.stop();
  });

  const post = (length: number, path = '/texts') =>
    request(server.url)
      .post(path)
      .set('authorization', 'quick')
      .send({ text: 'x'.repeat(length) });

  /** Sends the head of a request, and of its body only `body`. */
  function begin(framing: string, body: Buffer | string): Socket {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`POST /texts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`);
    socket.write(body);
    return socket;
  }

  it('share one budget: what would pass it is answered 503 with Retry-After, until room is given back', async () => {
    const first = post(60_000, '/held').then(({ status }) => status);
    await reached.promise;

    const refused = await post(60_000);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    const compressed = await fetch(`${server.url}/texts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ text: 'x'.repeat(60_000) })),
    });
    expect(compressed.status).toBe(503);
    const refusals = await metrics.registry.getSingleMetricAsString('http_server_refused_total');
    expect(refusals).toMatch(/reason="body_budget",.*\} 2$/m);
    expect((await post(10_000)).status).toBe(204);
    released.resolve();

    expect(await first).toBe(204);
    expect((await post(60_000)).status).toBe(204);
  });

  it.each([
    ['a declared length', `Content-Length: ${LIMIT_BYTES}`, '{'],
    ['chunks', 'Transfer-Encoding: chunked', '1\r\n{\r\n'],
    ['compression', `Content-Length: ${LIMIT_BYTES}\r\nContent-Encoding: gzip`, gzipSync('{').subarray(0, 4)],
  ])('take room as they arrive: many that have sent one byte leave it to others (%s)', async (_name, framing, body) => {
    for (let i = 0; i < 50; i += 1) begin(framing, body);
    await eventually(() => expect(authenticated).toBe(50));
    expect((await post(60_000)).status).toBe(204);
  });

  it.each([
    ['as it is', 'Transfer-Encoding: chunked', Buffer.alloc(90_000, ' ')],
    ['compressed', 'Transfer-Encoding: chunked\r\nContent-Encoding: gzip', gzipSync(Buffer.alloc(90_000, ' '))],
  ])('give their room back when their sender disconnects: %s', async (_name, framing, body) => {
    const socket = begin(framing, Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]));
    await eventually(async () => expect((await post(60_000)).status).toBe(503));
    socket.destroy();
    await eventually(async () => expect((await post(60_000)).status).toBe(204));
  });

  it('leave their connection good for the next request when they are refused half-way', async () => {
    const held = post(60_000, '/held').then(({ status }) => status);
    await reached.promise;
    const socket = begin('Content-Length: 200000', Buffer.alloc(100_000, ' '));
    let answers = '';
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    await eventually(() => expect(answers).toMatch(/^HTTP\/1.1 503 /));

    socket.write(Buffer.alloc(100_000, ' '));
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(answers).toMatch(/\}HTTP\/1.1 200 /);
    released.resolve();
    expect(await held).toBe(204);
  });

  it('give way when they have stalled: 400 of a megabyte stay within the budget, and others are answered', async () => {
    const stalled = Array.from({ length: 400 }, () => begin('Content-Length: 1000000', Buffer.alloc(999_999, ' ')));
    let answers = '';
    for (const socket of stalled) socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    await eventually(() => expect(authenticated).toBe(400));
    await eventually(async () => expect((await post(60_000)).status).toBe(204));
    expect(await metric('http_server_body_bytes')).toBeLessThanOrEqual(BUDGET_BYTES);
    expect(answers).toMatch(/^HTTP\/1\.1 503 /);
    expect(answers).toMatch(/^connection: close\r$/im);
  });

  it('lock no one out when 1030 of them have sent one byte', async () => {
    for (let i = 0; i < 1030; i += 1) {
      begin('Content-Length: 100', '{');
      if (i % 100 === 99) await eventually(() => expect(authenticated).toBe(i + 1));
    }
    await eventually(() => expect(authenticated).toBe(1030));
    // Each takes 513 bytes, so the budget holds only some of them.
    await eventually(async () => expect((await post(10_000)).status).toBe(204));
    expect(await metric('http_server_body_bytes')).toBeLessThanOrEqual(BUDGET_BYTES);
  });

  it('count what their pieces take beside their bytes', async () => {
    begin('Transfer-Encoding: chunked', '1\r\n{\r\n'.repeat(300));
    await eventually(async () => expect(await metric('http_server_body_bytes')).toBe(300 * 513));
  });

  async function metric(name: string): Promise<number> {
    const text = await metrics.registry.getSingleMetricAsString(name);
    return Number(text.trim().split(' ').at(-1));
  }

  it('of one sender leave room to others, though they do not stall', async () => {
    const unfinished = Array.from({ length: 4 }, () => begin('Content-Length: 1000000', Buffer.alloc(20_000, ' ')));
    let answers = '';
    for (const socket of unfinished) socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    await eventually(() => expect(answers.match(/HTTP\/1\.1 503 /g)).toHaveLength(2));
    expect((await post(40_000)).status).toBe(204);
  });

  it('never keep out a body that is alone, however large it is', async () => {
    expect((await post(5 * BUDGET_BYTES)).status).toBe(204);
  });
});

describe('the bodies of one sender', () => {
  const PIECE_BYTES = 16 * 1024;

  function setUp() {
    const budget = createBodyBudget({ budgetBytes: 1024 * 1024, countRefusal: () => undefined });
    /** Opens up to a hundred bodies of one piece, until one is refused. Returns the bytes that they hold. */
    const fill = (sender: string): number => {
      const before = budget.takenBytes;
      for (let i = 0; i < 100; i += 1) {
        try {
          budget.open(() => undefined, sender).take(PIECE_BYTES);
        } catch {
          break;
        }
      }
      return budget.takenBytes - before;
    };
    return { budget, fill };
  }

  it('get half of the budget while nobody else needs it, and a quarter beside others', () => {
    const { budget, fill } = setUp();
    const [first, second, third] = [fill('a'), fill('b'), fill('c')];
    expect(first).toBeLessThanOrEqual(512 * 1024);
    expect(first).toBeGreaterThan(450 * 1024);
    expect([fill('a'), second, third].every((bytes) => bytes <= 256 * 1024)).toBe(true);
    expect([second, third].every((bytes) => bytes > 200 * 1024)).toBe(true);
    expect(budget.takenBytes).toBeLessThanOrEqual(1024 * 1024);
  });

  it('may be larger than a quarter, if there is only one', () => {
    const { budget } = setUp();
    budget.open(() => undefined, 'a').take(PIECE_BYTES);
    const only = budget.open(() => undefined, 'b');
    for (let pieces = 0; pieces < 40; pieces += 1) only.take(PIECE_BYTES);
    expect(() => budget.open(() => undefined, 'b').take(1)).toThrow('Too many requests');
    expect(() => budget.open(() => undefined, 'a').take(1)).not.toThrow();
  });

  it('count no more once their room is given back', () => {
    const { budget, fill } = setUp();
    const share = budget.open(() => undefined, 'a');
    for (let i = 0; i < 20; i += 1) share.take(PIECE_BYTES);
    fill('b');
    expect(fill('a')).toBe(0);
    share.giveBack();
    expect(fill('a')).toBeGreaterThan(0);
  });
});
