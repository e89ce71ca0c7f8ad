import { inspect } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { createManagementApi, createTollkeeper } from '../src/index.ts';
import { type Answer, error, hang, json, reset, startStubServer, type StubServer } from './stub.server.ts';

const KEY = 'ws_live_abc.THE-SECRET-OF-THE-KEY';
const ASKED = { agentId: 'agent-a', runId: 'run-1', amountMicros: 700 };

let server: StubServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Everything that a log, a debugger or a crash may show of a value. */
function shown(value: unknown): string {
  const seen = inspect(value, { depth: Infinity, showHidden: true, getters: true });
  return `${seen} ${String(value)} ${JSON.stringify(value)} ${value instanceof Error ? `${value.stack} ${value.cause}` : ''}`;
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (failure) {
    return failure;
  }
  throw new Error('it did not fail');
}

/** A server whose answer contains the request. */
const echo =
  (status: number): Answer =>
  (response, { headers }) => {
    const said = String(headers.authorization ?? headers.cookie);
    const details = [{ path: said, message: said }];
    json(
      status,
      { error: said, code: said, request_id: said, details },
      { 'x-request-id': said },
    )(response, {} as never);
  };

it.each<[string, Answer]>([
  ['a reset', reset],
  ['silence', hang],
  ['401', error(401, 'unauthenticated')],
  ['503', error(503, 'service_unavailable')],
  ['no JSON', (response) => response.end('<html></html>')],
  ['its own request in a 400', echo(400)],
  ['its own request in a 503', echo(503)],
  [
    'only an id in its headers',
    (response, { headers }) => {
      response.writeHead(400, { 'x-request-id': headers.authorization }).end();
    },
  ],
])('no error shows the key when the answer is %s', async (_, answer) => {
  server = await startStubServer(answer);
  const reporting = { timeoutMs: 200, lingerMs: 0 };
  const tollkeeper = createTollkeeper({ url: server.url, key: KEY, timeoutMs: 200, reporting });
  const failures = [
    await failureOf(() => tollkeeper.reserve(ASKED)),
    await failureOf(() => tollkeeper.report({ type: 'some.type', data: {} })),
  ];
  expect(failures.map(shown).join()).not.toContain('THE-SECRET');
});

it('no error shows the key when fetch fails with an error that does', async () => {
  const fetch = () => Promise.reject(new TypeError(`Bearer ${KEY}`, { cause: { code: KEY, headers: { key: KEY } } }));
  const tollkeeper = createTollkeeper({ url: 'http://127.0.0.1:1', key: KEY, timeoutMs: 50, fetch });
  expect(shown(await failureOf(() => tollkeeper.reserve(ASKED)))).not.toContain('THE-SECRET');
});

it.each<[string, { url: string; key: string }]>([
  ['a key with a line break', { url: 'http://127.0.0.1:1', key: `${KEY}\n` }],
  ['an address that is none', { url: 'THE-SECRET', key: KEY }],
  ['an address with a password', { url: 'http://user:THE-SECRET@127.0.0.1:1', key: KEY }],
  ['an address of another kind', { url: 'ftp://THE-SECRET', key: KEY }],
])('%s is refused at once, and not shown', async (_, options) => {
  const failure = await failureOf(async () => createTollkeeper(options));
  expect(failure).toBeInstanceOf(TypeError);
  expect(shown(failure)).not.toContain('THE-SECRET');
});

it('neither the client nor a reservation shows the key', async () => {
  server = await startStubServer(json(201, { decision: 'allowed', reservation: { id: 'rsv_1' }, limits: [] }));
  const tollkeeper = createTollkeeper({ url: server.url, key: KEY });
  expect(shown(tollkeeper) + shown(await tollkeeper.reserve(ASKED))).not.toContain('THE-SECRET');
});

it('no error of the management API shows the session', async () => {
  server = await startStubServer(echo(403));
  const api = createManagementApi({ url: server.url, session: 'THE-SECRET-SESSION' });
  const failure = await failureOf(() => api.call('GET /api/v1/auth/me'));
  expect(failure).toMatchObject({ status: 403 });
  expect(shown([failure, api])).not.toContain('THE-SECRET');
});
