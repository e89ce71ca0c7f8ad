import { afterEach, describe, expect, it } from '@jest/globals';
import { createTollkeeper, TollkeeperError, type TollkeeperOptions, TollkeeperUnavailable } from '../src/index.ts';
import { eventually } from '@tollkeeper/testing';
import { DENIED, GRANTED, RESERVATION } from './answers.ts';
import { type Answer, cut, error, hang, json, reset, stall, startStubServer, type StubServer } from './stub.server.ts';

const ASKED = { agentId: 'agent-a', runId: 'run-1', amountMicros: 700 };
const granted = json(201, GRANTED);
const away = error(503, 'service_unavailable');

let server: StubServer;
afterEach(() => server.stop());

async function start(answers: Answer[], options: Partial<TollkeeperOptions> = {}) {
  server = await startStubServer(...answers);
  return createTollkeeper({ url: server.url, key: 'ws_live_1.secret', timeoutMs: 10_000, ...options });
}

async function allowed(answers: Answer[], options?: Partial<TollkeeperOptions>) {
  const tollkeeper = await start([granted, ...answers], options);
  const call = await tollkeeper.reserve(ASKED);
  if (!call.allowed) throw new Error('it was denied');
  return call;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it was fulfilled');
    },
    (failure: unknown) => failure,
  );

describe('reserve', () => {
  it('sends the request with the key, and gives the reservation and the limits', async () => {
    const tollkeeper = await start([granted]);
    const what = { planKey: 'plan-a', model: 'm', provider: 'p', labels: { team: 'growth', env: 'prod' } };
    const call = await tollkeeper.reserve({ ...ASKED, ...what, ttlSeconds: 60, requestId: 'request-1' });
    expect(call).toMatchObject({ allowed: true, reservation: RESERVATION, limits: GRANTED.limits });
    expect(server.received).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/api/v1/reservations',
        headers: expect.objectContaining({
          authorization: 'Bearer ws_live_1.secret',
          'content-type': 'application/json',
        }),
        body: {
          request_id: 'request-1',
          agent_id: 'agent-a',
          run_id: 'run-1',
          amount_micros: 700,
          plan_key: 'plan-a',
          model: 'm',
          provider: 'p',
          labels: { team: 'growth', env: 'prod' },
          ttl_seconds: 60,
        },
      }),
    ]);
  });

  it('sends no labels, no model and no provider if none are given', async () => {
    const tollkeeper = await start([granted]);
    await tollkeeper.reserve({ ...ASKED, requestId: 'request-1' });
    expect(server.bodies('/reservations')).toEqual([
      { request_id: 'request-1', agent_id: 'agent-a', run_id: 'run-1', amount_micros: 700 },
    ]);
  });

  it('is refused for a label that the key pins, at the first attempt, also with `allow`, and says which', async () => {
    const details = [{ path: 'labels.env', message: 'must be prod, as the workspace key has it' }];
    const body = { error: 'The key pins the label env.', code: 'label_pinned', request_id: 'req-1', details };
    const tollkeeper = await start([json(403, body), granted], { onUnavailable: 'allow' });
    const failure = await failureOf(tollkeeper.reserve({ ...ASKED, labels: { env: 'dev' } }));
    expect(failure).not.toBeInstanceOf(TollkeeperUnavailable);
    expect(failure).toMatchObject({ name: 'TollkeeperError', code: 'label_pinned', status: 403, details });
    expect(server.received).toHaveLength(1);
  });

  it('keeps the path of the url', async () => {
    server = await startStubServer(granted);
    const tollkeeper = createTollkeeper({ url: `${server.url}/below/`, key: 'k' });
    await tollkeeper.reserve(ASKED);
    expect(server.received.map(({ path }) => path)).toEqual(['/below/api/v1/reservations']);
  });

  it('gives the denial and the limits of a denied call', async () => {
    const tollkeeper = await start([json(200, DENIED)]);
    const call = await tollkeeper.reserve({ ...ASKED, requestId: 'request-1' });
    const { denial, limits } = DENIED;
    expect(call).toEqual({ allowed: false, requestId: 'request-1', denial, limits });
  });

  it.each<[string, Answer]>([
    ['503', away],
    ['504', error(504, 'upstream_timeout')],
    ['408', error(408, 'request_timeout')],
    ['408 of a proxy', (response) => response.writeHead(408).end('Request Timeout')],
    ['502 of a proxy', (response) => response.writeHead(502).end('<html>Bad Gateway</html>')],
    ['a connection that is reset', reset],
    ['an answer that is cut off', cut],
    ['a connection that hangs', hang],
    ['an answer that hangs', stall],
  ])('tries again after %s, with the same request_id', async (_, failure) => {
    const tollkeeper = await start([failure, granted], { timeoutMs: 4_000 });
    expect(await tollkeeper.reserve(ASKED)).toMatchObject({ allowed: true, reservation: RESERVATION });
    const [first, second, ...others] = server.bodies<{ request_id: string }>('/reservations');
    expect(first?.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect([second, others]).toEqual([first, []]);
  });

  it('makes another request_id for each call', async () => {
    const tollkeeper = await start([granted]);
    await tollkeeper.reserve(ASKED);
    await tollkeeper.reserve(ASKED);
    const ids = server.bodies<{ request_id: string }>('/reservations').map(({ request_id }) => request_id);
    expect(new Set(ids).size).toBe(2);
  });

  it.each([400, 401, 403, 404, 409, 413, 429])('is refused by %d, at the first attempt', async (status) => {
    const tollkeeper = await start([error(status, 'some_code', { 'retry-after': '0' })], { onUnavailable: 'allow' });
    const failure = await failureOf(tollkeeper.reserve(ASKED));
    expect(failure).toBeInstanceOf(TollkeeperError);
    expect(failure).not.toBeInstanceOf(TollkeeperUnavailable);
    expect(failure).toMatchObject({ code: 'some_code', message: 'It is some_code.', status, requestId: 'req-1' });
    expect(server.received).toHaveLength(1);
  });

  it('does not try again before Retry-After, so it gives up at once if that is too late', async () => {
    const tollkeeper = await start([error(503, 'service_unavailable', { 'retry-after': '60' }), granted]);
    const failure = await failureOf(tollkeeper.reserve(ASKED));
    expect(failure).toBeInstanceOf(TollkeeperUnavailable);
    expect(failure).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      retryAfterMs: 60_000,
      requestId: 'req-1',
    });
    expect(server.received).toHaveLength(1);
  });

  it('takes a Retry-After that is a date', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const tollkeeper = await start([error(503, 'service_unavailable', { 'retry-after': date }), granted]);
    const failure = (await failureOf(tollkeeper.reserve(ASKED))) as TollkeeperError;
    expect(failure.retryAfterMs).toBeGreaterThan(1_800_000);
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, Answer, string]>([
    ['the connection is reset', reset, 'connection_failed'],
    ['nothing is answered', hang, 'timeout'],
    ['the answer never ends', stall, 'timeout'],
    ['the answer is 503', away, 'service_unavailable'],
  ])('ends with TollkeeperUnavailable if %s until its time is over', async (_, failure, code) => {
    const tollkeeper = await start([failure], { timeoutMs: 1_000 });
    const thrown = await failureOf(tollkeeper.reserve(ASKED));
    expect(thrown).toBeInstanceOf(TollkeeperUnavailable);
    expect((thrown as TollkeeperUnavailable).code).toBe(code);
  });

  it('ends with the failure before the attempt that its deadline cut short', async () => {
    const tollkeeper = await start([error(503, 'service_unavailable', { 'retry-after': '1' }), hang], {
      timeoutMs: 1_500,
    });
    expect(await failureOf(tollkeeper.reserve(ASKED))).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(server.received).toHaveLength(2);
  });

  it('does not wait for a fetch that heeds no signal', async () => {
    const tollkeeper = await start([granted], { timeoutMs: 100, fetch: () => new Promise(() => {}) });
    expect(await failureOf(tollkeeper.reserve(ASKED))).toMatchObject({ code: 'timeout' });
  });

  it.each<[string, Answer]>([
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')],
    ['nothing', (response) => response.writeHead(200).end()],
    ['another JSON', json(200, { hello: 'world' })],
    ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a refusal of something else', (response) => response.writeHead(404).end('404 page not found')],
    ['an answer without an end', endless],
  ])('refuses %s as no answer of Tollkeeper, also with `allow`', async (_, answer) => {
    const tollkeeper = await start([answer], { onUnavailable: 'allow' });
    const failure = await failureOf(tollkeeper.reserve(ASKED));
    expect(failure).toMatchObject({ name: 'TollkeeperError', code: 'invalid_answer' });
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, Answer]>([
    ['a connection that hangs', hang],
    ['an answer that hangs', stall],
    ['a pause between attempts', error(503, 'service_unavailable', { 'retry-after': '3600' })],
  ])('is aborted in %s with the reason of the signal', async (_, answer) => {
    const tollkeeper = await start([answer], { timeoutMs: 7_200_000, onUnavailable: 'allow' });
    const abort = new AbortController();
    const failure = failureOf(tollkeeper.reserve({ ...ASKED, signal: abort.signal }));
    await eventually(() => expect(server.received).toHaveLength(1));
    const reason = new Error('no longer needed');
    abort.abort(reason);
    expect(await failure).toBe(reason);
  });

  it('sends nothing with a signal that is aborted already', async () => {
    const tollkeeper = await start([granted]);
    const reason = new Error('no longer needed');
    expect(await failureOf(tollkeeper.reserve({ ...ASKED, signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(server.received).toEqual([]);
  });
});

describe('a call that is allowed', () => {
  it('is settled once, however often it is tried and called', async () => {
    const settled = json(200, { ...RESERVATION, state: 'settled' });
    const call = await allowed([away, reset, settled, settled]);
    const cost = { amountMicros: 650, model: 'm', provider: 'p', inputTokens: 3, outputTokens: 4 };
    expect(await call.settle(cost)).toMatchObject({ state: 'settled' });
    await call.settle(cost);
    const [first, ...others] = server.bodies<{ settlement_id: string }>('/rsv_1:settle');
    const fields = { amount_micros: 650, model: 'm', provider: 'p', input_tokens: 3, output_tokens: 4 };
    expect(first).toEqual({ settlement_id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...fields });
    expect(others).toEqual([first, first, first]);
  });

  it('is settled with the settlement id that is given', async () => {
    const call = await allowed([json(200, RESERVATION)]);
    await call.settle({ amountMicros: 1, settlementId: 'settlement-1' });
    expect(server.bodies('/rsv_1:settle')).toEqual([{ settlement_id: 'settlement-1', amount_micros: 1 }]);
  });

  it('waits with its settlement and its release for a quota', async () => {
    const busy = error(429, 'rate_limited', { 'retry-after': '0' });
    const call = await allowed([busy, json(200, RESERVATION), busy, json(200, RESERVATION)]);
    expect(await call.settle({ amountMicros: 1 })).toEqual(RESERVATION);
    expect(await call.release()).toEqual(RESERVATION);
    expect(server.received).toHaveLength(5);
  });

  it('is not settled, released or extended by something else that answers that all is well', async () => {
    const call = await allowed([(response) => void response.writeHead(204).end()]);
    for (const ending of [call.settle({ amountMicros: 1 }), call.release(), call.extend(60)]) {
      await expect(ending).rejects.toMatchObject({ code: 'invalid_answer' });
    }
  });

  it('is released, and extended', async () => {
    const call = await allowed([json(200, RESERVATION)]);
    expect(await call.extend(120)).toEqual(RESERVATION);
    expect(await call.release()).toEqual(RESERVATION);
    const calls = server.received.slice(1).map(({ method, path, body }) => [method, path, body]);
    expect(calls).toEqual([
      ['POST', '/api/v1/reservations/rsv_1:extend', { ttl_seconds: 120 }],
      ['POST', '/api/v1/reservations/rsv_1:release', undefined],
    ]);
  });

  it.each<[string, Answer, string]>([
    ['silence', hang, 'Tollkeeper did not answer POST /api/v1/reservations/rsv_1:settle in time.'],
    ['a reset', reset, 'POST /api/v1/reservations/rsv_1:settle could not reach Tollkeeper (ECONNRESET).'],
    ['503', away, 'It is service_unavailable.'],
    ['a quota', error(429, 'rate_limited', { 'retry-after': '60' }), 'It is rate_limited.'],
  ])('says after %s that its settlement is to be called again, and then sends the same', async (_, answer, reason) => {
    const call = await allowed([answer], { settleTimeoutMs: 300 });
    const failure = (await failureOf(call.settle({ amountMicros: 1 }))) as TollkeeperError;
    expect(failure.message).toBe(`${reason} The spend may not be recorded. Call settle again.`);
    server.answers = [json(200, RESERVATION)];
    await call.settle({ amountMicros: 1 });
    const [first, ...others] = server.bodies('/rsv_1:settle');
    expect(others).toEqual(others.map(() => first));
  });

  it('says why it cannot be settled', async () => {
    const call = await allowed([error(409, 'reservation_released')]);
    const failure = await failureOf(call.settle({ amountMicros: 1 }));
    const message = 'It is reservation_released.';
    expect(failure).toMatchObject({ name: 'TollkeeperError', code: 'reservation_released', status: 409, message });
    expect(server.received).toHaveLength(2);
  });

  it.each(['settle', 'release', 'extend'] as const)('can be aborted in %s', async (method) => {
    const call = await allowed([hang]);
    const abort = new AbortController();
    const { signal } = abort;
    const failure = failureOf(
      method === 'settle'
        ? call.settle({ amountMicros: 1, signal })
        : method === 'release'
          ? call.release({ signal })
          : call.extend(60, { signal }),
    );
    await eventually(() => expect(server.received).toHaveLength(2));
    abort.abort();
    expect(await failure).toBe(signal.reason);
  });
});

describe("a call that is allowed while Tollkeeper is down (onUnavailable: 'allow')", () => {
  async function unreserved(...after: Answer[]) {
    const late = error(503, 'service_unavailable', { 'retry-after': '60' });
    const tollkeeper = await start([late, ...after], { onUnavailable: 'allow', source: '/gateways/a' });
    const labels: Record<string, string> = { team: 'growth' };
    const call = await tollkeeper.reserve({ ...ASKED, planKey: 'plan-a', model: 'asked', provider: 'p', labels });
    // As a gateway that uses its object again for the next call.
    labels['team'] = 'sales';
    if (!call.allowed) throw new Error('it was denied');
    return call;
  }

  it('has no reservation and no limits; its release and extension do nothing', async () => {
    const call = await unreserved(granted);
    expect(call).toMatchObject({ allowed: true, reservation: null, limits: [] });
    expect([await call.release(), await call.extend(60)]).toEqual([null, null]);
    expect(server.received).toHaveLength(1);
  });

  it('is settled by an event without a reservation, the same one however often', async () => {
    const accepted = json(202, { accepted: 1, request_id: 'req-1' });
    const call = await unreserved(reset, accepted, accepted);
    expect(await call.settle({ amountMicros: 650, model: 'm' })).toBe(null);
    await call.settle({ amountMicros: 650, model: 'm' });
    type Sent = { id: string; data: { settlement_id: string } }[];
    const [first, ...others] = server.bodies<Sent>('/events');
    expect(first).toEqual([
      {
        specversion: '1.0',
        id: first?.[0]?.data.settlement_id,
        source: '/gateways/a',
        time: expect.stringMatching(/Z$/),
        type: 'spend.settled',
        data: {
          settlement_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          agent_id: 'agent-a',
          run_id: 'run-1',
          plan_key: 'plan-a',
          labels: { team: 'growth' },
          amount_micros: 650,
          model: 'm',
          provider: 'p',
        },
      },
    ]);
    expect(others).toEqual([first, first]);
  });

  it('is of the model and the provider that it was asked for, if its settlement names none', async () => {
    const call = await unreserved(json(202, { accepted: 1, request_id: 'req-1' }));
    await call.settle({ amountMicros: 650, model: undefined });
    expect(server.bodies('/events')).toEqual([
      [expect.objectContaining({ data: expect.objectContaining({ model: 'asked', provider: 'p' }) })],
    ]);
  });

  it('is reported within the time of a settlement, and its spend keeps being reported', async () => {
    const late = error(503, 'service_unavailable', { 'retry-after': '60' });
    const accepted = json(202, { accepted: 1, request_id: 'req-1' });
    const options = { onUnavailable: 'allow', settleTimeoutMs: 300, reporting: { timeoutMs: 1_500 } } as const;
    const tollkeeper = await start([late, hang, accepted], options);
    const call = await tollkeeper.reserve(ASKED);
    if (!call.allowed) throw new Error('it was denied');
    await expect(call.settle({ amountMicros: 650 })).rejects.toMatchObject({ code: 'timeout' });
    expect(server.bodies('/events')).toHaveLength(1);
    await tollkeeper.flush();
    expect(server.bodies('/events')).toHaveLength(2);
  });

  it('is asked about again the next time', async () => {
    const late = error(503, 'service_unavailable', { 'retry-after': '60' });
    const tollkeeper = await start([late, json(200, DENIED)], { onUnavailable: 'allow' });
    expect(await tollkeeper.reserve(ASKED)).toMatchObject({ allowed: true });
    expect(await tollkeeper.reserve(ASKED)).toMatchObject({ allowed: false });
  });
});

/** An answer that continues as long as it is read. */
function endless(response: Parameters<Answer>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = ' '.repeat(64 * 1024);
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
}
