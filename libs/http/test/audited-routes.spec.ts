import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import request from 'supertest';
import { z } from 'zod';
import {
  CALLER_HEADER,
  CLIENT_HEADER,
  createHttpServer,
  defineRoute,
  openApiDocument,
  signCallerToken,
  signClientAddress,
} from '../src/index.ts';
import { quietServer, secret } from './api.fixture.ts';

const about = { tag: 'Test', summary: 'Test' };
const seen = { description: 'What the handler got', schema: z.object({ cause: z.unknown() }) };
/** The progress of the endless stream. */
const stream = { made: 0, ended: false };

async function* endless(): AsyncGenerator<string> {
  try {
    for (;;) {
      stream.made += 1;
      yield `${'x'.repeat(64 * 1024)}\n`;
    }
  } finally {
    stream.ended = true;
  }
}

async function* failing(after: number): AsyncGenerator<string> {
  for (let piece = 0; piece < after; piece += 1) yield `${piece}\n`;
  throw new AppError('rate_limited', 'Later.');
}

const LINES = 'application/x-ndjson';
const streamed = (path: string, make: () => AsyncIterable<string>) =>
  defineRoute({
    ...about,
    method: 'get',
    path: `/api/v1/${path}`,
    operationId: path,
    access: 'public',
    responses: { 200: { description: 'Lines', streams: { [LINES]: z.number() } } },
    handler: async () => ({ status: 200, headers: { 'content-type': LINES }, stream: make() }),
  });

const routes = [
  defineRoute({
    ...about,
    method: 'post',
    audit: 'key.create',
    path: '/api/v1/keys',
    operationId: 'createKey',
    access: 'owner',
    responses: { 200: seen },
    handler: async ({ cause }) => ({ status: 200, body: { cause } }),
  }),
  defineRoute({
    ...about,
    method: 'post',
    audit: { unaudited: 'It changes nothing' },
    path: '/api/v1/previews',
    operationId: 'preview',
    access: 'owner',
    responses: { 200: seen },
    handler: async () => ({ status: 200, body: { cause: null } }),
  }),
  defineRoute({
    ...about,
    method: 'post',
    audit: 'key.revoke',
    path: '/api/v1/open',
    operationId: 'open',
    access: 'public',
    responses: { 200: seen },
    handler: async ({ cause }) => ({ status: 200, body: { cause } }),
  }),
  defineRoute({
    ...about,
    method: 'post',
    audit: { unaudited: 'It changes nothing' },
    path: '/api/v1/nothing',
    operationId: 'nothing',
    access: 'public',
    responses: { 200: seen },
    handler: async ({ cause }) => ({ status: 200, body: { cause: cause ?? null } }),
  }),
  streamed('endless', endless),
  streamed('failingAtOnce', () => failing(0)),
  streamed('failingLater', () => failing(3)),
];

const server = createHttpServer({ ...quietServer, routes, metrics: createMetrics('test') });
beforeAll(() => server.start());
afterAll(() => server.stop());

describe('the cause of a change', () => {
  const post = async (path: string, name?: string) => {
    const caller = { userId: 'user_1', name, tenantId: provenTenantId('ws_1'), role: 'owner' } as const;
    const { body } = await request(server.url)
      .post(path)
      .set(CALLER_HEADER, await signCallerToken(secret, 'test', caller))
      .set(CLIENT_HEADER, await signClientAddress(secret, 'test', '203.0.113.7'))
      .set('user-agent', 'curl/8')
      .set('x-request-id', 'request-of-ada');
    return (body as { cause: unknown }).cause;
  };
  const where = { address: '203.0.113.7', userAgent: 'curl/8', requestId: 'request-of-ada' };

  it('is the action of the route, the caller by the signed token, and the request', async () => {
    const actor = { type: 'user', id: 'user_1', name: 'Ada' };
    expect(await post('/api/v1/keys', 'Ada')).toEqual({ action: 'key.create', actor, ...where });
  });

  it('calls a caller without a name by their id', async () => {
    expect(await post('/api/v1/keys')).toMatchObject({ actor: { id: 'user_1', name: 'user_1' } });
  });

  it('has no actor where the route is for anybody, whoever says who they are', async () => {
    expect(await post('/api/v1/open', 'Ada')).toEqual({ action: 'key.revoke', ...where });
  });

  it('is none of a route that is in no audit log', async () => {
    expect(await post('/api/v1/nothing', 'Ada')).toBeNull();
  });

  it('is published as the action of the operation', () => {
    const { paths } = openApiDocument(routes, { title: 'Test', version: '1' });
    const actionOf = (path: string) => (paths?.[path]?.post as Record<string, unknown>)['x-audit-action'];
    expect(['/api/v1/keys', '/api/v1/open', '/api/v1/nothing'].map(actionOf)).toEqual([
      'key.create',
      'key.revoke',
      undefined,
    ]);
  });
});

describe('a route that records a change', () => {
  it('refuses roles that only read, unlike one that changes nothing', async () => {
    const finance = { userId: 'user_1', tenantId: provenTenantId('ws_1'), role: 'finance' } as const;
    const token = await signCallerToken(secret, 'test', finance);
    const post = (path: string) => request(server.url).post(path).set(CALLER_HEADER, token);
    expect((await post('/api/v1/previews')).status).toBe(200);
    expect((await post('/api/v1/keys')).body).toMatchObject({
      code: 'forbidden',
      error: 'This requires the role owner in the workspace; yours is finance.',
    });
  });
});

describe('an answer in pieces', () => {
  it('is made no faster than its client reads, and ended when the client disconnects', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET /api/v1/endless HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(stream.made).toBeGreaterThan(2));
    // At some point the buffers of the system are full, and no more pieces are made.
    await eventually(async () => {
      const before = stream.made;
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(stream.made).toBe(before);
    });
    expect(stream.ended).toBe(false);
    socket.destroy();
    await eventually(() => expect(stream.ended).toBe(true));
  });

  it('that cannot begin is the error itself', async () => {
    const answer = await request(server.url).get('/api/v1/failingAtOnce');
    expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited']);
  });

  it('that breaks off ends without its last chunk, so that the client sees it', async () => {
    const answer = await fetch(`${server.url}/api/v1/failingLater`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });
});
