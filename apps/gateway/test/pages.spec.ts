import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { cookieOf, type Seen, type Stack, startStack } from './stack.fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(() => {
  stack.services.console.answer = undefined;
});
afterAll(() => stack.stop());

const http = () => request(stack.gateway.httpUrl);

it.each(['/', '/login?next=%2Fw%2Facme', '/w/acme', '/w/acme/', '/w/acme/agents/api', '/w/acme/apis', '/assets/a.js'])(
  'the console has %s, for everybody, and nothing is asked of identity',
  async (path) => {
    const questions = stack.identity.questions;
    const { body } = await http().get(path).set('cookie', cookieOf('ada'));
    expect([body.service, body.method, body.url]).toEqual(['console', 'GET', path]);
    expect(stack.identity.questions).toBe(questions);
  },
);

it('gives the console the harmless headers alone', async () => {
  const given = {
    cookie: cookieOf('ada'),
    authorization: 'Bearer ws_live_a.b',
    'x-workspace': 'acme',
    accept: 'text/html',
  };
  const { headers } = (await http().get('/').set(given)).body as Seen;
  expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'x-request-id']);
});

it("leaves a page its policy and its time to live, and adds the edge's headers once", async () => {
  const own = {
    'content-security-policy': "default-src 'self'",
    'cache-control': 'max-age=7',
    'x-frame-options': 'NO',
  };
  stack.services.console.answer = (_req, res) =>
    res.writeHead(200, { ...own, 'content-type': 'text/html' }).end('page');
  const { headers, text } = await http().get('/w/acme/budgets');
  expect(text).toBe('page');
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'self'",
    'cache-control': 'max-age=7',
    'x-frame-options': 'SAMEORIGIN',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-request-id': expect.any(String),
  });
});

it.each(['post', 'put', 'patch', 'delete'] as const)(
  '%s of a page is 405, and does not reach the console',
  async (method) => {
    const requests = stack.services.console.requests;
    const answer = await http()[method]('/w/acme/budgets').send({});
    expect([answer.status, answer.body.code, answer.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD',
    ]);
    expect(stack.services.console.requests).toBe(requests);
  },
);
