import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import {
  createBodyBudget,
  createHttpServer,
  defineRoute,
  openApiDocument,
  partsBody,
  readArrivingParts,
} from '../src/index.ts';
import { quietServer } from './api.fixture.ts';

const KIB = 1024;
const NEWLINE = 0x0a;
const DIVISION = {
  partBytes: 64 * KIB,
  maxPartBytes: 256 * KIB,
  createCut: () => (arrived: Buffer) => arrived.lastIndexOf(NEWLINE) + 1,
};
const LIMIT = 1_024 * KIB;
const TYPE = { 'content-type': 'application/json' };

/** The parts of all bodies, in order. */
const parts: Buffer[] = [];
let use: (part: Buffer) => Promise<void> = async () => undefined;
let begin = () => {};

/** Reads lines, and answers with the number of parts. */
const route = defineRoute({
  method: 'post',
  audit: { unaudited: 'A test' },
  path: '/v1/lines',
  operationId: 'postLines',
  tag: 'Test',
  summary: 'Test',
  access: 'public',
  parts: DIVISION,
  bodyLimitBytes: LIMIT,
  bodyRatioLimit: 200,
  body: { 'application/json': partsBody },
  responses: { 200: { description: 'How many', schema: z.object({ parts: z.int() }) } },
  async handler({ body }) {
    begin();
    let count = 0;
    for await (const part of body) {
      parts.push(Buffer.from(part));
      await use(part);
      count += 1;
    }
    return { status: 200, body: { parts: count } };
  },
});

const server = createHttpServer({
  ...quietServer,
  routes: [route],
  metrics: createMetrics('test'),
  bodyBudgetBytes: LIMIT,
});
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  parts.length = 0;
  begin = () => {};
  use = async () => undefined;
});

async function post(body: Uint8Array<ArrayBuffer> | string | null, headers: Record<string, string> = {}, query = '') {
  const answer = await fetch(`${server.url}/v1/lines${query}`, {
    method: 'POST',
    headers: { ...TYPE, ...headers },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as { parts?: number; error?: string } };
}

const lines = (count: number, bytes: number) => `${'x'.repeat(bytes - 1)}\n`.repeat(count);

describe('a route that reads a body in parts', () => {
  it('gets all of it, cut where the route says', async () => {
    const body = lines(800, KIB) + 'rest';
    const answer = await post(body);
    expect(answer).toEqual({ status: 200, body: { parts: parts.length } });
    expect(parts.length).toBeGreaterThan(5);
    expect(Buffer.concat(parts).toString()).toBe(body);
    for (const part of parts.slice(0, -1)) expect(part.at(-1)).toBe(NEWLINE);
  });

  it('gets it decompressed', async () => {
    const body = `${randomBytes(200 * KIB).toString('hex')}\n`.replaceAll(/(.{1000})/g, '$1\n');
    const answer = await post(Buffer.from(gzipSync(body)), { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(200);
    expect(Buffer.concat(parts).toString()).toBe(body);
  });

  it('gets an empty part, or none, without a body', async () => {
    expect(await post('')).toMatchObject({ status: 200 });
    expect(await post(null)).toMatchObject({ status: 200 });
    expect(Buffer.concat(parts)).toHaveLength(0);
  });

  it('holds no more of it than the part in use and what follows up to the next one', async () => {
    const budget = createBodyBudget({ budgetBytes: 2 * LIMIT, countRefusal: () => undefined });
    // Everything is there, so it arrives at once unless the reader pauses its source.
    const source = new PassThrough({ highWaterMark: LIMIT });
    for (let i = 0; i < 800; i += 1) source.write(lines(1, KIB));
    source.end();
    const reading = { limitBytes: LIMIT, maxRatio: 200, budget, sender: 'a', decoder: undefined };
    let [bytes, most] = [0, 0];
    for await (const part of readArrivingParts(source, { ...DIVISION, ...reading })) {
      // A turn of the event loop, in which a source that is not paused emits all it has.
      await setImmediate();
      bytes += part.length;
      most = Math.max(most, budget.takenBytes);
    }
    expect(bytes).toBe(800 * KIB);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(300 * KIB);
    expect(budget.takenBytes).toBe(0);
  });

  it.each([
    ['over the limit of a body', lines(1_025, KIB)],
    ['with a part over its limit', 'x'.repeat(300 * KIB)],
    ['with a last part over its limit', lines(100, KIB) + 'x'.repeat(257 * KIB)],
  ])('refuses a body %s with 413, and serves the connection further', async (_case, body) => {
    expect((await post(body)).status).toBe(413);
    expect((await post('a\n')).status).toBe(200);
    await eventually(() => expect(server.bodies.takenBytes).toBe(0));
  });

  it('refuses what is not compressed as it says, and what ends too early', async () => {
    expect((await post('not gzip', { 'content-encoding': 'gzip' })).status).toBe(400);
    const half = request(`${server.url}/v1/lines`, { method: 'POST', headers: { ...TYPE, 'content-length': '10' } });
    half.on('error', () => undefined);
    half.write('a\n');
    await once(half, 'socket');
    await eventually(() => expect(server.bodies.takenBytes).toBeGreaterThan(0));
    half.destroy();
    await eventually(() => expect(server.bodies.takenBytes).toBe(0));
  });

  it('answers the error of its handler, and reads no part after it', async () => {
    use = async () => {
      throw new AppError('service_unavailable', 'Not now.', { retryAfterSeconds: 1 });
    };
    expect(await post(lines(800, KIB))).toMatchObject({ status: 503, body: { error: 'Not now.' } });
    expect(parts).toHaveLength(1);
    await eventually(() => expect(server.bodies.takenBytes).toBe(0));
  });

  it.each([
    ['a request is refused', '?a=1&a=1', 400, () => {}],
    [
      'a handler fails',
      '',
      503,
      () => {
        throw new AppError('service_unavailable', 'Not now.');
      },
    ],
  ])('takes further bodies with Brotli when %s before the body is read', async (_case, query, status, fail) => {
    const brotli = { 'content-encoding': 'br' };
    const body = Buffer.from(brotliCompressSync('a\n'));
    begin = fail;
    for (let i = 0; i < 5; i += 1) expect((await post(body, brotli, query)).status).toBe(status);
    begin = () => {};
    expect(await post(body, brotli)).toMatchObject({ status: 200 });
  });

  it('is in the document with its content type', () => {
    const { paths } = openApiDocument([route], { title: 'Test', version: '1' });
    expect(paths?.['/v1/lines']?.post?.requestBody).toMatchObject({
      content: { 'application/json': { schema: { type: 'string', format: 'binary' } } },
    });
  });
});
