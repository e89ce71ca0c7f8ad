import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Stack } from './stack.fixture.ts';
import { cookieOf, startStack } from './stack.fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ PUBLIC_URL: 'https://tollkeeper.example' });
});
afterAll(() => stack.stop());

type Headers = Record<string, string>;

const post = (headers: Headers, path = '/w/acme/api/v1/agents', cookie = cookieOf('ada')) =>
  request(stack.gateway.httpUrl).post(path).set('cookie', cookie).set(headers).send({});

describe('writes with a cookie', () => {
  it.each<[string, Headers]>([
    ['from the public URL', { origin: 'https://tollkeeper.example' }],
    [
      'from the public URL, as browsers say it',
      { origin: 'https://tollkeeper.example', 'sec-fetch-site': 'same-origin' },
    ],
    ['from another name of this gateway', { origin: 'https://other.example', host: 'other.example' }],
    ['from a program, which sends neither header', {}],
  ])('are taken %s', async (_what, headers) => {
    expect((await post(headers)).status).toBe(200);
  });

  it.each<[string, Headers]>([
    ['another site', { origin: 'https://evil.example' }],
    ['another site that imitates the host', { origin: 'https://tollkeeper.example.evil.example' }],
    ['the same host without TLS', { origin: 'http://tollkeeper.example', host: 'tollkeeper.example' }],
    ['another port', { origin: 'https://tollkeeper.example:8443' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['a sibling subdomain', { 'sec-fetch-site': 'same-site' }],
    ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }],
    [
      'another site, though the origin looks right',
      { origin: 'https://tollkeeper.example', 'sec-fetch-site': 'cross-site' },
    ],
  ])('are 403 cross_site_request from %s', async (_what, headers) => {
    for (const path of ['/w/acme/api/v1/agents', '/api/v1/auth/login', '/api/v1/auth/logout']) {
      const answer = await post(headers, path);
      expect([answer.status, answer.body.code]).toEqual([403, 'cross_site_request']);
    }
  });

  it('say first that there is no session', async () => {
    const answer = await post({ origin: 'https://evil.example' }, undefined, 'a=b');
    expect(answer.status).toBe(401);
  });
});

describe('others', () => {
  it('reads are not blocked, wherever a link is', async () => {
    const answer = await request(stack.gateway.httpUrl)
      .get('/w/acme/api/v1/dashboard/spend')
      .set('cookie', cookieOf('ada'))
      .set({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(200);
  });

  it('events with a key and no cookie may come from anywhere, with a cookie they may not', async () => {
    const events = () =>
      request(stack.gateway.httpUrl)
        .post('/api/v1/events')
        .set({ origin: 'https://else.example', authorization: 'Bearer ws_live_a.b' })
        .send({});
    expect((await events()).status).toBe(200);
    expect((await events().set('cookie', cookieOf('ada'))).status).toBe(403);
  });
});
