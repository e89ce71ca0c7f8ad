import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import type { EdgeRequest, EdgeResponse } from '../src/http/exchange.ts';
import { createUpstream } from '../src/http/upstream.ts';
import type { UpstreamService } from '../src/http/upstream.ts';
import { startEcho } from './stack.fixture.ts';
import type { EchoService } from './stack.fixture.ts';

const PLACES = 3;
const PIECE = Buffer.alloc(64 * 1024, 'x');
/** More than the buffers on the way take. */
const LARGE_BYTES = 32 * 1024 * 1024;

let service: EchoService;
let upstream: UpstreamService;
let edge: Server;
/** What the service has made of each endless answer, by its path. */
let produced: Record<string, number>;
let brokenOff: string[];
let ended: boolean;

beforeEach(async () => {
  [produced, brokenOff, ended] = [{}, [], false];
  service = await startEcho('dashboard');
  service.answer = ({ url = '' }, res) => {
    if (url === '/small') return void res.end('small');
    const pieces = new Readable({
      read() {
        produced[url] = (produced[url] ?? 0) + PIECE.length;
        this.push(ended ? null : PIECE);
      },
    });
    res.on('close', () => {
      if (!res.writableFinished) brokenOff.push(url);
    });
    pieces.pipe(res);
  };
  upstream = createUpstream({
    name: 'dashboard',
    origin: service.url,
    timeoutMs: 30_000,
    maxUnderWay: PLACES,
    answerError: (_error, _req, res) => void res.destroy(),
  });
  edge = createServer((req, res) => {
    const request = { method: 'GET', path: req.url ?? '', headers: [], body: null, bodyLimitBytes: 0 };
    const answer = Object.assign(res, { locals: { requestId: 'req_1' } }) as unknown as EdgeResponse;
    try {
      upstream.send({ ...request, answerWithinMs: undefined, answerHeaders: () => [] }, req as EdgeRequest, answer);
    } catch (error) {
      res.writeHead(error instanceof AppError ? 503 : 500).end();
    }
  }).listen(0, '127.0.0.1');
  await once(edge, 'listening');
});

afterEach(async () => {
  edge.closeAllConnections();
  edge.close();
  await upstream.close();
  await service.close();
});

/** The answer, of which nothing is read yet. */
async function get(path: string): Promise<IncomingMessage> {
  const req = httpRequest({ port: (edge.address() as AddressInfo).port, path, agent: false });
  const [res] = (await once(req.end(), 'response')) as [IncomingMessage];
  return res.on('error', () => undefined);
}

async function small(): Promise<number | undefined> {
  const res = await get('/small');
  await res.toArray();
  return res.statusCode;
}

it('answers that nobody reads give their places to other requests, longest unread first, and no steady reader does', async () => {
  const steady = await get('/steady');
  for (const path of ['/slow-1', '/slow-2']) {
    await get(path);
    await stall(path);
  }
  let read = 0;
  let status: number | undefined;
  for await (const piece of steady as AsyncIterable<Buffer>) {
    read += piece.length;
    // By then it has read more recently than the others.
    if (read > LARGE_BYTES && status !== 200) status = await small();
    ended = status === 200;
  }
  expect([status, steady.complete]).toEqual([200, true]);
  await eventually(() => expect(brokenOff).toEqual(['/slow-1']));
});

/** Waits until the buffers on the way are full. */
async function stall(path: string): Promise<void> {
  let before: number | undefined = -1;
  await eventually(() => {
    const still = produced[path] === before;
    before = produced[path];
    expect(still).toBe(true);
  });
}
