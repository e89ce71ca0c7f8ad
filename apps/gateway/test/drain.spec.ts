import { Agent, get } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { cookieOf, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';

describe('stop', () => {
  it('under load answers every request that it has taken, and takes no more', async () => {
    const stack = await startStack();
    const release = Promise.withResolvers<void>();
    stack.services.dashboard.answer = (_req, res) => void release.promise.then(() => res.end('{"done":true}'));
    const agent = new Agent({ keepAlive: true });
    const headers = { cookie: cookieOf('ada') };
    const answers = Array.from(
      { length: 100 },
      () =>
        new Promise<number | undefined>((resolve, reject) => {
          get(`${stack.gateway.httpUrl}${SPEND}`, { agent, headers }, (res) =>
            res.resume().on('end', () => resolve(res.statusCode)),
          ).on('error', reject);
        }),
    );
    await eventually(() => expect(stack.services.dashboard.requests).toBe(100));

    const stopped = stack.gateway.stop();
    await expect(fetch(`${stack.gateway.httpUrl}${SPEND}`, { headers })).rejects.toThrow();
    release.resolve();
    expect(await Promise.all(answers)).toEqual(Array<number>(100).fill(200));
    await stopped;
    agent.destroy();
    await stack.stop();
  });
});
