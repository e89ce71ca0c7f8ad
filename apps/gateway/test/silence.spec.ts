import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import type { EdgeRequest, EdgeResponse } from '../src/http/exchange.ts';
import { createUpstream, type UpstreamService } from '../src/http/upstream.ts';
import { type EchoService, startEcho } from './stack.fixture.ts';

const SILENT_FOR_MS = 200;
const MIB = 1024 * 1024;
/** More than all buffers on the way hold. */
const LARGE_BYTES = 64 * MIB;

let service: EchoService;
let upstream: UpstreamService;
let edge: Server;

beforeEach(async () => {
  service = await startEcho('ingest');
  upstream = createUpstream({
    name: 'ingest',
    origin: service.url,
    timeoutMs: 300_000,
    maxInFlight: 10,
    answerHeaders: () => [],
    answerError: (error, _req, res) => void res.writeHead(503).end(error instanceof Error ? error.message : ''),
  });
  const app = express().use((req: EdgeRequest, res: EdgeResponse) => {
    const limits = { bodyLimitBytes: LARGE_BYTES, answerWithinMs: undefined, silentForMs: SILENT_FOR_MS };
    upstream.send({ method: 'POST', path: '/', headers: [], body: 'stream', ...limits }, req, res);
  });
  edge = app.listen(0, '127.0.0.1');
  await once(edge, 'listening');
});
afterEach(async () => {
  edge.closeAllConnections();
  edge.close();
  await upstream.close();
  await service.close();
});

function begin(answer: RequestListener): { sent: ClientRequest; status: Promise<number | undefined> } {
  service.answer = answer;
  const { port } = edge.address() as AddressInfo;
  const sent = request({ port, method: 'POST', agent: false });
  const status = once(sent, 'response').then(([response]: IncomingMessage[]) => response?.statusCode);
  // The edge closes the connection of a body that it does not read to its end.
  sent.on('error', () => undefined);
  return { sent, status };
}

describe('a service that must not be silent for long', () => {
  it('has as much time as a client that pauses between the parts of its body needs', async () => {
    const { sent, status } = begin((req, res) => void req.resume().on('end', () => res.end()));
    for (let part = 0; part < 3; part += 1) {
      sent.write('x');
      await pause(2 * SILENT_FOR_MS);
    }
    sent.end();
    expect(await status).toBe(200);
  });

  it('is broken off with 503 if it has all of a body, or no longer reads it', async () => {
    const whole = begin((req) => void req.resume());
    whole.sent.end('x');
    expect(await whole.status).toBe(503);
    const unread = begin((req) => void req.pause());
    unread.sent.end(Buffer.alloc(LARGE_BYTES));
    expect(await unread.status).toBe(503);
  });
});
