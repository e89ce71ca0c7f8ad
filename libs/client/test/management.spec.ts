import { afterEach, expect, it } from '@jest/globals';
import { createManagementApi, type ManagementApiOptions } from '../src/index.ts';
import { type Answer, error, json, startStubServer, type StubServer } from './stub.server.ts';

let server: StubServer;
afterEach(() => server.stop());

async function start(answers: Answer[], options: Partial<ManagementApiOptions> = {}) {
  server = await startStubServer(...answers);
  return createManagementApi({ url: server.url, ...options });
}

it('calls an operation with its path, query and body, in the workspace and with the session', async () => {
  const api = await start([json(200, { agent_id: 'a/b' })], { workspace: 'demo', session: 'session-1' });
  const path = { agent_id: 'a/b' };
  await api.call('PATCH /api/v1/agents/{agent_id}', { path, body: { display_name: 'B' } });
  await api.call('GET /api/v1/dashboard/spend', { query: { range: 'today', label: { 'label.team': 'a&b' } } });
  expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['PATCH', '/api/v1/agents/a%2Fb', { display_name: 'B' }],
    ['GET', '/api/v1/dashboard/spend?range=today&label.team=a%26b', undefined],
  ]);
  const session = { cookie: 'gw_session=session-1', 'x-workspace': 'demo' };
  expect(server.received.map(({ headers }) => headers)).toEqual(Array(2).fill(expect.objectContaining(session)));
});

it('sends a file as it is, with its own type', async () => {
  const api = await start([json(200, {})]);
  const body = new Blob(['day,model,amount_usd\n'], { type: 'text/csv' });
  await api.call('POST /api/v1/reconciliations', { query: { file_name: 'a&b.csv' }, body });
  expect(server.received).toEqual([
    expect.objectContaining({
      path: '/api/v1/reconciliations?file_name=a%26b.csv',
      headers: expect.objectContaining({ 'content-type': 'text/csv' }),
      body: 'day,model,amount_usd\n',
    }),
  ]);
});

it('takes no session that cannot be a cookie', async () => {
  await expect(start([json(200, {})], { session: 'a\nb' })).rejects.toThrow('session must be the value of the cookie');
});

it('gives nothing for an answer without a body', async () => {
  const api = await start([(response) => response.writeHead(204).end()]);
  expect(await api.call('POST /api/v1/auth/logout')).toBe(undefined);
});

it('tries to read again, and never to write', async () => {
  const away = error(503, 'service_unavailable');
  const api = await start([away, json(200, { items: [] })]);
  expect(await api.call('GET /api/v1/agents')).toEqual({ items: [] });
  expect(server.received).toHaveLength(2);
  server.answers.unshift(away);
  const body = { agent_id: 'a', display_name: 'A' };
  await expect(api.call('POST /api/v1/agents', { body })).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(server.received).toHaveLength(3);
});

it.each(['', '.', '..'])('sends nothing with a path parameter that would name another path: %j', async (agentId) => {
  const api = await start([json(200, {})]);
  const input = { path: { agent_id: agentId }, body: { display_name: 'B' } };
  await expect(api.call('PATCH /api/v1/agents/{agent_id}', input)).rejects.toBeInstanceOf(TypeError);
  expect(server.received).toEqual([]);
});
