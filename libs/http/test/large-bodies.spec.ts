import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import { createHttpServer, defineRoute, type HttpListener } from '../src/index.ts';
import { quietServer } from './api.fixture.ts';

/** Brings a body over the size up to which it is made a value at once. */
const LONG = 'x'.repeat(70_000);
/** So many that each list takes several turns of the event loop. */
const ELEMENTS = 40;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('large bodies', () => {
  let server: HttpListener;
  /** First character of each element, in the order in which they are looked at. */
  let seen: string;
  let value: WeakRef<object> | undefined;
  let handling: PromiseWithResolvers<void>;
  let released: PromiseWithResolvers<void>;

  beforeEach(async () => {
    seen = '';
    value = undefined;
    handling = Promise.withResolvers();
    released = Promise.withResolvers();
    const element = z.string().transform((text) => {
      const end = performance.now() + 1;
      while (performance.now() < end);
      seen += text[0] ?? '';
      return text.length;
    });
    const list = {
      method: 'post',
      tag: 'Test',
      summary: 'Test',
      access: {
        scheme: 'workspaceKey',
        authenticate: async ({ headers }) => ({ name: headers.authorization ?? '' }),
        senderOf: ({ name }) => name,
      },
      body: z.array(element),
      responses: { 204: { description: 'Taken' } },
    } as const satisfies Partial<Parameters<typeof defineRoute>[0]>;
    server = createHttpServer({
      ...quietServer,
      routes: [
        defineRoute({ ...list, path: '/lists', operationId: 'postList', handler: async () => ({ status: 204 }) }),
        defineRoute({
          ...list,
          path: '/held',
          operationId: 'postHeld',
          charge: (_caller, body) => (value = new WeakRef(body as object)),
          handler: async () => {
            handling.resolve();
            await released.promise;
            return { status: 204 };
          },
        }),
      ],
      metrics: createMetrics('test'),
    });
    await server.start();
  });
  afterEach(async () => {
    released.resolve();
    await server.stop();
  });

  const post = async (sender: string, letter: string, path = '/lists'): Promise<number> => {
    const headers = { 'content-type': 'application/json', authorization: sender };
    const body = JSON.stringify([letter + LONG, ...Array(ELEMENTS - 1).fill(letter)]);
    return (await fetch(`${server.url}${path}`, { method: 'POST', headers, body })).status;
  };

  it('of one sender become values one after another', async () => {
    expect(await Promise.all(['a', 'b', 'c'].map((letter) => post('sender', letter)))).toEqual([204, 204, 204]);
    expect(seen).toMatch(/^(\w)\1{39}(\w)\2{39}(\w)\3{39}$/);
  });

  it('of different senders take turns', async () => {
    expect(await Promise.all(['a', 'b'].map((letter) => post(letter, letter)))).toEqual([204, 204]);
    expect(seen).not.toMatch(/^(\w)\1{39}(\w)\2{39}$/);
  });

  it('are not kept as values while their request is handled', async () => {
    const answer = post('sender', 'a', '/held');
    await handling.promise;
    await eventually(() => {
      collectGarbage();
      expect(value?.deref()).toBeUndefined();
    });
    released.resolve();
    expect(await answer).toBe(204);
  });
});
