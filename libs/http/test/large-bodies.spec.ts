import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import { CALLER_HEADER, CLIENT_HEADER, signCallerToken, signClientAddress } from '../src/index.ts';
import { createHttpServer, defineRoute, type HttpListener } from '../src/index.ts';
import { quietServer, secret } from './api.fixture.ts';

/** Makes a body too large to be parsed at once. */
const LONG = 'x'.repeat(70_000);
/** Enough that each list takes several turns of the event loop. */
const ELEMENTS = 40;
/** Two lists, one after the other. */
const ONE_BY_ONE = /^(\w)\1{39}(\w)\2{39}$/;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('large bodies', () => {
  let server: HttpListener;
  /** First character of each element, in the order of validation. */
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
      audit: { unaudited: 'A test' },
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
          access: 'member',
          path: '/members',
          operationId: 'postMembers',
          handler: async () => ({ status: 204 }),
        }),
        defineRoute({
          ...list,
          access: 'public',
          path: '/public',
          operationId: 'postPublic',
          handler: async () => ({ status: 204 }),
        }),
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

  const send = async (path: string, sender: Record<string, string>, letter: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...sender };
    const body = JSON.stringify([letter + LONG, ...Array(ELEMENTS - 1).fill(letter)]);
    return (await fetch(`${server.url}${path}`, { method: 'POST', headers, body })).status;
  };
  const post = (sender: string, letter: string, path = '/lists') => send(path, { authorization: sender }, letter);

  it('of one sender become values one after another', async () => {
    expect(await Promise.all(['a', 'b', 'c'].map((letter) => post('sender', letter)))).toEqual([204, 204, 204]);
    expect(seen).toMatch(/^(\w)\1{39}(\w)\2{39}(\w)\3{39}$/);
  });

  it('of different senders take turns', async () => {
    expect(await Promise.all(['a', 'b'].map((letter) => post(letter, letter)))).toEqual([204, 204]);
    expect(seen).not.toMatch(ONE_BY_ONE);
  });

  const userOf = async (userId: string, workspace: string) => ({
    [CALLER_HEADER]: await signCallerToken(secret, 'test', {
      ...{ userId, tenantId: provenTenantId(workspace), role: 'member' },
    }),
  });
  const clientAt = async (address: string) => ({ [CLIENT_HEADER]: await signClientAddress(secret, 'test', address) });
  it.each([
    [
      'workspace, whoever of it sends them',
      '/members',
      [userOf('user_1', 'ws_1'), userOf('user_2', 'ws_1')],
      [userOf('user_1', 'ws_1'), userOf('user_1', 'ws_2')],
    ],
    [
      'address, where there is no session',
      '/public',
      [clientAt('192.0.2.1'), clientAt('192.0.2.1')],
      [clientAt('192.0.2.1'), clientAt('192.0.2.2')],
    ],
  ])('have for their sender their %s', async (_what, path, same, different) => {
    const sendAll = async (senders: Promise<Record<string, string>>[]) => {
      seen = '';
      const sent = (await Promise.all(senders)).map((sender, index) => send(path, sender, 'ab'[index] ?? ''));
      expect(await Promise.all(sent)).toEqual([204, 204]);
      return seen;
    };
    expect(await sendAll(same)).toMatch(ONE_BY_ONE);
    expect(await sendAll(different)).not.toMatch(ONE_BY_ONE);
  });

  it('have 1 MiB at most, where neither their route nor their server says another limit', async () => {
    const statusOf = async (bytes: number) => {
      const headers = { 'content-type': 'application/json', authorization: 'sender' };
      const body = `["${'x'.repeat(bytes - 4)}"]`;
      return (await fetch(`${server.url}/lists`, { method: 'POST', headers, body })).status;
    };
    expect([await statusOf(1024 * 1024), await statusOf(1024 * 1024 + 1)]).toEqual([204, 413]);
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
