import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import express from 'express';
import { createEdgeHeaders } from '../src/http/edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from '../src/http/exchange.ts';
import { createPagesProxy, type PagesProxy } from '../src/http/pages.proxy.ts';
import { createUpstream } from '../src/http/upstream.ts';
import type { UpstreamService } from '../src/http/upstream.ts';
import { startEcho } from './stack.fixture.ts';
import type { EchoService } from './stack.fixture.ts';

const PLACES = 3;
const PIECE = Buffer.alloc(64 * 1024, 'x');
const STILL_LOOKS = 20;
/** More than all buffers on the way hold. */
const LARGE_BYTES = 32 * 1024 * 1024;

let service: EchoService;
let upstream: UpstreamService;
let pages: PagesProxy;
/** Whether requests take the way of pages. */
let byPages: boolean;
let edge: Server;
/** Bytes that the service has produced of each endless answer, by path. */
let produced: Record<string, number>;
let brokenOff: string[];
let ended: boolean;

beforeEach(async () => {
  [produced, ended] = [{}, false];
  // Paths of this test only, because answers of the previous test may close late.
  const own: string[] = [];
  brokenOff = own;
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
      if (!res.writableFinished) own.push(url);
    });
    pieces.pipe(res);
  };
  upstream = createUpstream({
    name: 'dashboard',
    origin: service.url,
    timeoutMs: 30_000,
    maxInFlight: PLACES,
    answerHeaders: () => [],
    answerError: (_error, _req, res) => void res.destroy(),
  });
  pages = createPagesProxy({
    origin: service.url,
    timeoutMs: 30_000,
    maxInFlight: PLACES,
    edgeHeaders: createEdgeHeaders('http://localhost'),
    answerError: (_error, _req, res) => void res.destroy(),
  });
  const app = express().use((req: EdgeRequest, res: EdgeResponse) => {
    const request = { method: 'GET', path: req.url, headers: [], body: null, bodyLimitBytes: 0 };
    res.locals.requestId = 'req_1';
    try {
      if (byPages) pages.send(req, res);
      else upstream.send({ ...request, answerWithinMs: undefined, silentForMs: undefined }, req, res);
    } catch (error) {
      res.writeHead(error instanceof AppError ? 503 : 500).end();
    }
  });
  edge = app.listen(0, '127.0.0.1');
  await once(edge, 'listening');
});

afterEach(async () => {
  edge.closeAllConnections();
  edge.close();
  pages.close();
  await upstream.close();
  await service.close();
});

/** An answer whose body is still unread. */
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

it.each([
  ['of the API', false],
  ['of pages', true],
])(
  'answers %s that nobody reads give their places, longest unread first, and no steady reader does',
  async (_, way) => {
    byPages = way;
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
  },
);

/** Waits until the buffers on the way are full. A busy machine can also pause, but not for long. */
async function stall(path: string): Promise<void> {
  let before: number | undefined = -1;
  let still = 0;
  await eventually(() => {
    still = produced[path] === before ? still + 1 : 0;
    before = produced[path];
    expect(still).toBeGreaterThan(STILL_LOOKS);
  });
}
