import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { createMetrics, type Metrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { createHttpListener } from '../src/index.ts';
import type { HttpListener, RefusalReason } from '../src/index.ts';

const MIB = 1024 * 1024;
/** More than the buffers of the system hold. */
const LARGE = Buffer.alloc(12 * MIB, 'x');
const BUDGET = 32 * MIB;
const GET = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n';

let server: HttpListener;
let metrics: Metrics;
let refused: RefusalReason[];
let handled: number;
let over: number;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

async function start(): Promise<void> {
  [metrics, refused, handled, over] = [createMetrics('test'), [], 0, 0];
  server = createHttpListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    metrics,
    countRefusal: (reason) => refused.push(reason),
    listener(req, res) {
      if (req.url === '/small') return void res.end('small');
      handled += 1;
      res.once('close', () => (over += 1));
      res.writeHead(200, { 'content-length': LARGE.length }).end(LARGE);
    },
  });
  await server.start();
}

/** Sends a request without reading its answer. */
async function ask(text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined).pause());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

async function unreadBytes(): Promise<number> {
  const text = await metrics.registry.getSingleMetricAsString('http_server_unread_bytes');
  return Number(text.trim().split(' ').at(-1));
}

const small = async () => (await fetch(`${server.url}/small`)).text();

it('a request sent ahead is not handled before the answer in front of it is read, and each is answered in turn', async () => {
  await start();
  const socket = await ask(GET.repeat(3));
  await eventually(() => expect(handled).toBe(1));
  expect(await small()).toBe('small');
  expect(handled).toBe(1);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
  socket.resume();
  await eventually(() => expect(bytes).toBeGreaterThan(3 * LARGE.length));
  expect([handled, over]).toEqual([3, 3]);
});

it('what clients leave unread stays within a budget, is given back, and others are answered', async () => {
  await start();
  for (let i = 0; i < 100; i += 1) await ask(GET.repeat(3));
  await eventually(async () => {
    expect(handled).toBe(100);
    expect(await unreadBytes()).toBeLessThanOrEqual(BUDGET);
  });
  expect(new Set(refused)).toEqual(new Set(['unread_budget']));
  expect(await small()).toBe('small');
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await unreadBytes()).toBe(0));
  expect([handled, over]).toEqual([100, 100]);
});

it('a slow but steady reader gets a large answer whole while another address reads nothing', async () => {
  await start();
  const reader = await ask(GET, '127.0.0.2');
  await eventually(() => expect(handled).toBe(1));
  let bytes = 0;
  let asked = 0;
  for await (const piece of reader as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (asked < 10) await ask(GET);
    asked += 1;
    if (bytes > LARGE.length) break;
  }
  await eventually(async () => expect(await unreadBytes()).toBeLessThanOrEqual(BUDGET));
  expect(new Set(refused)).toEqual(new Set(['unread_budget']));
  expect(bytes).toBeGreaterThan(LARGE.length);
});
