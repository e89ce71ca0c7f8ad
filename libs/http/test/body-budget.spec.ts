import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import request from 'supertest';
import { z } from 'zod';
import { createHttpServer, defineRoute } from '../src/index.ts';
import { secret } from './api.fixture.ts';

describe('the bodies of all requests under way', () => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const route = defineRoute({
    method: 'post',
    path: '/texts',
    operationId: 'postText',
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    body: z.strictObject({ text: z.string() }),
    responses: { 204: { description: 'Taken' } },
    handler: async () => {
      reached.resolve();
      await released.promise;
      return { status: 204 };
    },
  });
  const server = createHttpServer({
    routes: [route],
    info: { title: 'Test', version: '1.0.0' },
    callerTokenSecret: secret,
    host: '127.0.0.1',
    port: 0,
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics('test'),
    bodyBudgetBytes: 1000,
  });
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  const post = (length: number) =>
    request(server.url)
      .post('/texts')
      .send({ text: 'x'.repeat(length) });

  it('share one budget: what is over it is answered 503 with Retry-After, until room is given back', async () => {
    const first = post(600).then(({ status }) => status);
    await reached.promise;

    const refused = await post(600);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    // Its size is not known before it is read, so it counts as the most that it may be.
    const chunked = await fetch(`${server.url}/texts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob(['{"text":"x"}']).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(503);
    const fitting = post(100).then(({ status }) => status);
    released.resolve();

    expect([await first, await fitting]).toEqual([204, 204]);
    expect((await post(600)).status).toBe(204);
  });

  it('never keep out a body that is alone, however large it is', async () => {
    expect((await post(5000)).status).toBe(204);
  });
});
