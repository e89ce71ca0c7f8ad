import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { z } from 'zod';
import { ANY_TYPE, bytesBody, createHttpServer, defineRoute } from '../src/index.ts';
import { quietServer } from './api.fixture.ts';

const route = defineRoute({
  method: 'post',
  audit: { unaudited: 'A test' },
  path: '/ask',
  takesAnyRequest: true,
  operationId: 'ask',
  tag: 'Test',
  summary: 'Test',
  access: 'public',
  query: z.object({ mode: z.string().default('usual') }),
  readsBytes: true,
  body: { [ANY_TYPE]: bytesBody },
  responses: { 200: { description: 'Heard', schema: z.object({ mode: z.string(), length: z.int() }) } },
  handler: async ({ body, query: { mode } }) => ({ status: 200, body: { mode, length: body.length } }),
});
const server = createHttpServer({ ...quietServer, routes: [route], metrics: createMetrics('test') });
beforeAll(() => server.start());
afterAll(() => server.stop());

it.each([
  ['GET', '/ask?mode=odd', { mode: 'odd', length: 0 }],
  ['POST', '/ask/v1/chat/completions', { mode: 'usual', length: 3 }],
  ['PUT', '/ask/v1/files/%zz?a=1&a=2&b=%ff', { mode: 'usual', length: 3 }],
  ['PATCH', '/ask/', { mode: 'usual', length: 3 }],
  ['DELETE', '/ask/a/b?mode=odd&a=1', { mode: 'odd', length: 3 }],
  ['OPTIONS', '/ask/a', { mode: 'usual', length: 3 }],
])('a route for any request takes %s %s', async (method, path, expected) => {
  const body = method === 'GET' ? null : new Uint8Array([123, 0, 255]);
  for (const type of ['multipart/form-data; boundary=x', '', 'no type']) {
    const answer = await fetch(server.url + path, {
      method,
      body,
      headers: type === '' ? {} : { 'content-type': type },
    });
    expect([answer.status, await answer.json()]).toEqual([200, expected]);
  }
});

it('a route for any request takes no path that only begins like its own', async () => {
  expect((await fetch(`${server.url}/asking`)).status).toBe(404);
});
