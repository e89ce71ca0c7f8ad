import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import { bytesBody, createHttpServer, defineRoute, openApiDocument } from '../src/index.ts';
import { quietServer } from './api.fixture.ts';

const BINARY = 'application/x-protobuf';
const JSON_TYPE = 'application/json';
const LIMIT = 1_000_000;

/** Answers with the bytes that it gets, or with how many they were. */
const route = defineRoute({
  method: 'post',
  audit: { unaudited: 'A test' },
  path: '/v1/things',
  otherPaths: ['/other/v1/things'],
  operationId: 'postThings',
  tag: 'Test',
  summary: 'Test',
  access: 'public',
  readsBytes: true,
  bodyLimitBytes: LIMIT,
  bodyRatioLimit: 200,
  body: {
    [BINARY]: bytesBody.transform((bytes) => ({ isJson: false, bytes })),
    [JSON_TYPE]: bytesBody.transform((bytes) => ({ isJson: true, bytes })),
  },
  responses: { 200: { description: 'The same', schema: z.object({ length: z.int() }), bytes: BINARY } },
  handler: async ({ body: { isJson, bytes } }) =>
    isJson
      ? { status: 200, body: { length: bytes.length } }
      : { status: 200, headers: { 'content-type': BINARY }, bytes },
});

const server = createHttpServer({ ...quietServer, routes: [route], metrics: createMetrics('test') });
beforeAll(() => server.start());
afterAll(() => server.stop());

async function post(body: Uint8Array<ArrayBuffer> | string | undefined, headers: Record<string, string> = {}) {
  const path = headers['path'] ?? '/v1/things';
  const answer = await fetch(server.url + path, { method: 'POST', headers, body: body ?? null });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    bytes: Buffer.from(await answer.arrayBuffer()),
  };
}

describe('a route that reads bytes', () => {
  const bytes = Buffer.from([0x00, 0xff, 0x80, 0x7b]);

  it('gets them as they are and may answer with bytes, at each of its paths', async () => {
    for (const path of ['/v1/things', '/other/v1/things']) {
      expect(await post(bytes, { path, 'content-type': BINARY })).toEqual({ status: 200, type: BINARY, bytes });
    }
  });

  it('gets four with Brotli at a time, whose windows no budget counts, and more once these have ended', async () => {
    const compressed = Buffer.from(brotliCompressSync(bytes));
    const headers = { 'content-type': BINARY, 'content-encoding': 'br' };
    const waiting = { method: 'POST', headers: { ...headers, expect: '100-continue' } };
    const arriving = Array.from({ length: 4 }, () => request(`${server.url}/v1/things`, waiting));
    // The server asks for their bodies, so it reads them.
    const asked = arriving.map((each) => once(each, 'continue'));
    for (const each of arriving) each.flushHeaders();
    await Promise.all(asked);
    expect((await post(compressed, headers)).status).toBe(503);
    expect((await post(Buffer.from(gzipSync(bytes)), { ...headers, 'content-encoding': 'gzip' })).status).toBe(200);
    for (const each of arriving) {
      each.end(compressed);
      const [answer] = (await once(each, 'response')) as [IncomingMessage];
      answer.resume();
      expect(answer.statusCode).toBe(200);
    }
    await eventually(async () => expect((await post(compressed, headers)).status).toBe(200));
  });

  it('gets them decompressed', async () => {
    const compressed = Buffer.from(gzipSync(bytes));
    const answer = await post(compressed, { 'content-type': BINARY, 'content-encoding': 'gzip' });
    expect(answer.bytes).toEqual(bytes);
  });

  it('gets JSON unread', async () => {
    const answer = await post('{not JSON', { 'content-type': JSON_TYPE });
    expect([answer.status, JSON.parse(answer.bytes.toString())]).toEqual([200, { length: 9 }]);
  });

  it('gets no bytes without a body', async () => {
    expect(await post(undefined)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    expect(await post('', { 'content-type': BINARY })).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    expect(await post('', { 'content-type': JSON_TYPE })).toMatchObject({
      status: 200,
      bytes: Buffer.from('{"length":0}'),
    });
  });

  it('refuses other content types, and more bytes than its limit after decompression', async () => {
    expect((await post(bytes, { 'content-type': 'text/plain' })).status).toBe(415);
    const large = Buffer.from(gzipSync(randomBytes(LIMIT + 1)));
    expect((await post(large, { 'content-type': BINARY, 'content-encoding': 'gzip' })).status).toBe(413);
  });

  it('refuses what grows over 64 KiB and more than its ratio by decompression, and takes it as it is', async () => {
    const compress = { gzip: gzipSync, br: brotliCompressSync };
    for (const encoding of ['gzip', 'br'] as const) {
      const send = (of: Buffer) =>
        post(Buffer.from(compress[encoding](of)), { 'content-type': BINARY, 'content-encoding': encoding });
      const refused = await send(Buffer.alloc(500_000));
      expect([refused.status, refused.bytes.toString()]).toEqual([413, expect.stringContaining('more than 200 times')]);
      expect((await send(Buffer.alloc(64 * 1024))).status).toBe(200);
      // Grows 100 times.
      expect((await send(Buffer.concat([randomBytes(5_000), Buffer.alloc(495_000)]))).status).toBe(200);
    }
    expect((await post(Buffer.alloc(500_000), { 'content-type': BINARY })).status).toBe(200);
  });

  it('answers errors of protobuf requests as a Status in protobuf, and others as JSON', async () => {
    const large = Buffer.alloc(LIMIT + 1);
    const sentence = 'The request body is larger than 1000000 bytes.';
    for (const type of [BINARY, 'Application/X-Protobuf; charset=utf-8']) {
      expect(await post(large, { 'content-type': type })).toEqual({
        status: 413,
        type: BINARY,
        bytes: Buffer.from(`\x12\x2e${sentence}`),
      });
    }
    const { type, bytes } = await post(large, { 'content-type': JSON_TYPE });
    expect([type, JSON.parse(bytes.toString())]).toEqual([
      'application/json; charset=utf-8',
      expect.objectContaining({ error: sentence }),
    ]);
  });

  it('is in the document once, with its content types', () => {
    const { paths } = openApiDocument([route], { title: 'Test', version: '1' });
    const binary = { schema: { type: 'string', format: 'binary' } };
    expect(Object.keys(paths ?? {})).toEqual(['/v1/things']);
    expect(paths?.['/v1/things']?.post).toMatchObject({
      requestBody: { required: false, content: { [BINARY]: binary, [JSON_TYPE]: binary } },
      responses: {
        200: { content: { [BINARY]: binary, [JSON_TYPE]: { schema: { type: 'object' } } } },
        default: { content: { [BINARY]: binary, [JSON_TYPE]: {} } },
      },
    });
  });
});
