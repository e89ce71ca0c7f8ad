import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import request from 'supertest';
import type { Stack } from './stack.fixture.ts';
import { cookieOf, startIdentity, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';
let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const spend = (as: string) => request(stack.gateway.httpUrl).get(SPEND).set('cookie', cookieOf(as));

describe('sessions', () => {
  it('are looked up once for many requests at once and the ones soon after', async () => {
    const before = stack.identity.questions;
    await Promise.all(Array.from({ length: 20 }, () => spend('mia')));
    await spend('mia');
    expect(stack.identity.questions - before).toBe(1);
  });

  it('are asked about again once what is known of them is older than SESSION_CACHE_MS', async () => {
    const own = await startStack({ SESSION_CACHE_MS: '20' });
    const read = () => request(own.gateway.httpUrl).get(SPEND).set('cookie', cookieOf('ada'));
    expect((await read()).status).toBe(200);
    own.identity.sessions.delete('ada');
    await eventually(async () => expect((await read()).status).toBe(401));
    await own.stop();
  });

  it('stay known after reads, also refused ones, and after writes to other services', async () => {
    const as = cookieOf('ada');
    const get = (path: string) => request(stack.gateway.httpUrl).get(path).set('cookie', as);
    await spend('ada');
    const before = stack.identity.questions;
    expect((await get('/api/v1/auth/me')).status).toBe(200);
    expect((await get('/w/bob/api/v1/dashboard/spend')).status).toBe(403);
    expect(stack.identity.questions - before).toBe(0);
    const write = request(stack.gateway.httpUrl).post('/w/acme/api/v1/management/workspace-keys').set('cookie', as);
    expect((await write.send({})).status).toBe(200);
    expect((await spend('ada')).status).toBe(200);
    // The question of the write, which uses the current role.
    expect(stack.identity.questions - before).toBe(1);
  });

  it('end with a logout through this gateway at once', async () => {
    expect((await spend('adam')).status).toBe(200);
    stack.services.identity.answer = (_req, res) => {
      stack.identity.sessions.delete('adam');
      res.writeHead(204).end();
    };
    const logout = await request(stack.gateway.httpUrl).post('/api/v1/auth/logout').set('cookie', cookieOf('adam'));
    expect(logout.status).toBe(204);
    expect((await spend('adam')).status).toBe(401);
    stack.services.identity.answer = undefined;
  });

  it('know a workspace that their user has just made', async () => {
    const use = () =>
      request(stack.gateway.httpUrl).get('/w/fresh/api/v1/dashboard/spend').set('cookie', cookieOf('new'));
    expect((await use()).status).toBe(403);
    stack.services.identity.answer = (_req, res) => {
      stack.identity.sessions.get('new')?.memberships.push({ tenantId: 'ws_fresh', slug: 'fresh', role: 'owner' });
      res.writeHead(201).end();
    };
    await request(stack.gateway.httpUrl).post('/api/v1/workspaces').set('cookie', cookieOf('new')).send({});
    stack.services.identity.answer = undefined;
    expect((await use()).status).toBe(200);
  });
});

describe('a write', () => {
  const acme = { tenantId: 'ws_acme', slug: 'acme' };
  const WRITES = [
    ['post', '/w/acme/api/v1/management/workspace-keys', 'keys'],
    ['put', '/w/acme/api/v1/workspaces/ws_acme/budgets/workspace', 'budgets'],
    ['post', '/w/acme/api/v1/alerts/channels', 'notifier'],
    ['post', '/w/acme/api/v1/members', 'identity'],
    ['patch', '/w/acme/api/v1/workspace', 'identity'],
  ] as const;

  it.each(WRITES)(
    '%s %s has the role of this moment, not the one that this gateway knows',
    async (method, path, to) => {
      const name = `fallen-${method}-${to}-${path.length}`;
      const { sessions } = stack.identity;
      sessions.set(name, { userId: 'user_fallen', memberships: [{ ...acme, role: 'owner' }] });
      const write = () => request(stack.gateway.httpUrl)[method](path).set('cookie', cookieOf(name)).send({});
      const read = () => spend(name);
      expect((await read()).body.caller.role).toBe('owner');
      const before = stack.services[to].requests;
      sessions.set(name, { userId: 'user_fallen', memberships: [{ ...acme, role: 'member' }] });
      expect([(await write()).status, (await read()).status]).toEqual([403, 200]);
      sessions.set(name, { userId: 'user_fallen', memberships: [] });
      expect((await write()).status).toBe(403);
      sessions.delete(name);
      expect((await write()).status).toBe(401);
      expect(stack.services[to].requests).toBe(before);
    },
  );

  it('has the role of the moment at which its body is there, however long that takes', async () => {
    const { sessions } = stack.identity;
    sessions.set('waiting', { userId: 'user_waiting', memberships: [{ ...acme, role: 'owner' }] });
    const before = stack.services.keys.requests;
    const write = httpRequest(`${stack.gateway.httpUrl}/w/acme/api/v1/management/workspace-keys`, {
      method: 'POST',
      headers: { cookie: cookieOf('waiting'), 'content-type': 'application/json' },
    });
    write.write(`{${' '.repeat(100_000)}`);
    await eventually(async () => {
      const held = await stack.metrics.registry.getSingleMetricAsString('http_server_body_bytes');
      expect(Number(held.trim().split(' ').at(-1))).toBeGreaterThan(100_000);
    });
    sessions.set('waiting', { userId: 'user_waiting', memberships: [{ ...acme, role: 'member' }] });
    write.end('}');
    const [answer] = (await once(write, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(403);
    expect(stack.services.keys.requests).toBe(before);
  });

  it('carries the role of this moment to its service', async () => {
    const { sessions } = stack.identity;
    sessions.set('risen', { userId: 'user_risen', memberships: [{ ...acme, role: 'member' }] });
    expect((await spend('risen')).body.caller.role).toBe('member');
    sessions.set('risen', { userId: 'user_risen', memberships: [{ ...acme, role: 'owner' }] });
    const made = await request(stack.gateway.httpUrl)
      .post('/w/acme/api/v1/management/workspace-keys')
      .set('cookie', cookieOf('risen'))
      .send({});
    expect([made.status, made.body.caller.role]).toEqual([200, 'owner']);
  });
});

describe('without identity', () => {
  it('writes are 503 with Retry-After, while reads continue with what is known', async () => {
    const own = await startStack();
    const as = { cookie: cookieOf('ada') };
    expect((await request(own.gateway.httpUrl).get(SPEND).set(as)).status).toBe(200);
    await own.identity.grpc.stop();
    const write = await request(own.gateway.httpUrl).post('/w/acme/api/v1/management/workspace-keys').set(as).send({});
    expect([write.status, write.body.code]).toEqual([503, 'service_unavailable']);
    expect(write.headers['retry-after']).toMatch(/^\d+$/);
    expect(own.services.keys.requests).toBe(0);
    expect((await request(own.gateway.httpUrl).get(SPEND).set(as)).status).toBe(200);
    await own.stop();
  });

  it('the answer is 503 with Retry-After and never 401, what needs no session still works, and all is well when it is back', async () => {
    const own = await startStack();
    const get = (as: string) => request(own.gateway.httpUrl).get(SPEND).set('cookie', cookieOf(as));
    const port = Number(own.identity.grpc.address.split(':').at(-1));
    await own.identity.grpc.stop();

    for (const as of ['ada', 'nobody']) {
      const answer = await get(as);
      expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    await expect(own.gateway.ready?.()).resolves.toBeUndefined();
    expect((await request(own.gateway.httpUrl).post('/api/v1/execute')).status).toBe(410);
    const events = request(own.gateway.httpUrl).post('/api/v1/events').set('authorization', 'Bearer ws_live_a.b');
    expect((await events.send('{}')).status).toBe(200);

    const back = await startIdentity(port);
    back.sessions.set('ada', {
      userId: 'user_ada',
      memberships: [{ tenantId: 'ws_acme', slug: 'acme', role: 'owner' }],
    });
    await eventually(async () => expect((await get('ada')).status).toBe(200));
    await back.grpc.stop();
    await own.stop();
  });
});
