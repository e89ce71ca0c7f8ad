import { eventually } from '@tollkeeper/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTollkeeper, type ReserveOptions, TollkeeperError, type TollkeeperOptions } from '../src/index.ts';
import { LeaseLedger } from './lease.ledger.ts';
import { type Answer, error, hang, json, reset, startStubServer, type StubServer } from './stub.server.ts';

const ASKED = { agentId: 'agent-a', runId: 'run-1', amountMicros: 100 };
const PLENTY = 1_000_000_000;

let server: StubServer;
let ledger: LeaseLedger;
afterEach(() => server.stop());

/** Answers as the ledger does. */
const decide: Answer = (response, request) => {
  const { status, body } = ledger.answer(request.path, request.body);
  json(status, body)(response, request);
};
/** Decides, and then loses the answer. */
const decideAndReset: Answer = (response, request) => {
  ledger.answer(request.path, request.body);
  reset(response, request);
};

interface Started {
  answers?: Answer[];
  agents?: Record<string, number>;
  options?: Partial<TollkeeperOptions>;
}

async function start({ answers = [decide], agents = {}, options = {} }: Started = {}) {
  ledger = new LeaseLedger({ agents, workspace: PLENTY }, () => performance.now());
  server = await startStubServer(...answers);
  return createTollkeeper({ url: server.url, key: 'ws_live_1.secret', timeoutMs: 3_000, leases: true, ...options });
}

type Client = Awaited<ReturnType<typeof start>>;

async function allowed(tollkeeper: Client, request: Partial<ReserveOptions> = {}) {
  const call = await tollkeeper.reserve({ ...ASKED, ...request });
  if (!call.allowed) throw new Error('it was denied');
  return call;
}

const paths = () => server.received.map(({ path }) => path.replace(/lse_[^:]+/, 'lse'));
const grants = () => paths().filter((path) => path === '/api/v1/leases').length;

describe('reserve with leases', () => {
  it('asks for a lease with all that budgets see of the call, and names the run for a denial', async () => {
    const tollkeeper = await start({ options: { leases: { ttlSeconds: 30 } } });
    const what = { planKey: 'plan-a', model: 'm', provider: 'p', labels: { team: 'growth' } };
    expect(await allowed(tollkeeper, what)).toMatchObject({
      reservation: null,
      limits: [],
      leaseId: expect.stringMatching(/^lse_/),
    });
    expect(server.bodies('/leases')).toEqual([
      {
        ...{ request_id: expect.any(String), run_id: 'run-1', agent_id: 'agent-a', plan_key: 'plan-a' },
        ...{ model: 'm', provider: 'p', labels: { team: 'growth' }, min_micros: 100 },
        ...{ amount_micros: 200, ttl_seconds: 30 },
      },
    ]);
  });

  it('grants a further call from memory, even while Tollkeeper answers nothing', async () => {
    const tollkeeper = await start({ answers: [decide, hang] });
    await allowed(tollkeeper);
    expect(await allowed(tollkeeper)).toMatchObject({ reservation: null });
    expect(grants()).toBe(1);
  });

  it.each<[string, Partial<ReserveOptions>]>([
    ['agent', { agentId: 'agent-b' }],
    ['plan', { planKey: 'plan-a' }],
    ['model', { model: 'm' }],
    ['provider', { provider: 'm' }],
    ['labels', { labels: { team: 'growth' } }],
  ])('asks for another lease for another %s', async (_, other) => {
    const tollkeeper = await start();
    const [first, second] = [await allowed(tollkeeper), await allowed(tollkeeper, other)];
    expect(second.leaseId).not.toBe(first.leaseId);
  });

  it('uses the same lease for labels in another order, and not for labels that only look alike', async () => {
    const tollkeeper = await start();
    const call = async (labels: Record<string, string>) => (await allowed(tollkeeper, { labels })).leaseId;
    const first = await call({ a: '1', b: '2' });
    expect(await call({ b: '2', a: '1' })).toBe(first);
    expect(await call({ a: '1', b2: '' })).not.toBe(first);
    expect(await call({ a: '11 b1 2' })).not.toBe(first);
  });

  it('asks one question at a time for many calls at once, and grants all of them', async () => {
    let inFlight = 0;
    let most = 0;
    const slow: Answer = (response, request) => {
      most = Math.max(most, ++inFlight);
      setImmediate(() => {
        inFlight -= 1;
        decide(response, request);
      });
    };
    const tollkeeper = await start({ answers: [slow] });
    const calls = await Promise.all(Array.from({ length: 40 }, () => allowed(tollkeeper)));
    expect(new Set(calls.map(({ leaseId }) => leaseId)).size).toBe(1);
    expect(most).toBe(1);
    expect(server.received.length).toBeLessThan(8);
  });

  it('gives the denial of the server, and only that', async () => {
    const tollkeeper = await start({ agents: { 'agent-a': 250 } });
    const first = await allowed(tollkeeper);
    expect(await tollkeeper.reserve({ ...ASKED, amountMicros: 250 })).toMatchObject({
      ...{ allowed: false, denial: { message: 'The daily budget of agent-a is used up.' } },
      ...{ requestId: expect.any(String), limits: [expect.anything()] },
    });
    expect(ledger.denials).toBe(1);
    await first.release();
  });

  it('lets the calls that waited for a denied lease ask for themselves', async () => {
    const tollkeeper = await start({ agents: { 'agent-a': 99 } });
    const amounts = [100, 10, 20];
    const calls = await Promise.all(amounts.map((amountMicros) => tollkeeper.reserve({ ...ASKED, amountMicros })));
    expect(calls.map((call) => call.allowed && call.reservation !== null)).toEqual([false, true, true]);
    expect(paths()).toEqual(['/api/v1/leases', '/api/v1/reservations', '/api/v1/reservations']);
  });

  it('can spend 99 % of a budget before the first denial', async () => {
    const budget = 20_000;
    const tollkeeper = await start({ agents: { 'agent-a': budget } });
    for (;;) {
      const call = await tollkeeper.reserve({ ...ASKED, amountMicros: 20 });
      if (!call.allowed) break;
      await call.settle({ amountMicros: 20 });
    }
    await tollkeeper.flush();
    expect(ledger.posted()).toBeGreaterThanOrEqual(0.99 * budget);
    expect(ledger.posted()).toBeLessThanOrEqual(budget);
  });

  it.each<[string, Partial<ReserveOptions>, TollkeeperOptions['leases']]>([
    ['with an id of its own', { requestId: 'request-1' }, true],
    ['of a run that is none', { runId: 'a b' }, true],
    ['of an amount that is none', { amountMicros: -1 }, true],
    ['with a time that is none', { ttlSeconds: 1 }, true],
    ['of more than a lease may hold', { amountMicros: 101 }, { maxMicros: 100 }],
  ])('asks the server for a call %s', async (_, request, leases) => {
    const tollkeeper = await start({ options: { leases } });
    await tollkeeper.reserve({ ...ASKED, ...request });
    expect(paths()).toEqual(['/api/v1/reservations']);
  });

  it('asks for each call while Tollkeeper has no leases', async () => {
    const noLeases: Answer = (response, request) =>
      (request.path.includes('/leases') ? error(404, 'not_found') : decide)(response, request);
    const tollkeeper = await start({ answers: [noLeases] });
    for (let count = 0; count < 3; count += 1) expect((await allowed(tollkeeper)).reservation).not.toBe(null);
    expect(grants()).toBe(1);
  });

  it('follows onUnavailable while Tollkeeper is unavailable', async () => {
    const away = error(503, 'service_unavailable', { 'retry-after': '60' });
    const denying = await start({ answers: [away] });
    await expect(denying.reserve(ASKED)).rejects.toMatchObject({ code: 'service_unavailable' });
    await server.stop();
    const allowing = await start({ answers: [away], options: { onUnavailable: 'allow' } });
    expect(await allowed(allowing)).toMatchObject({ reservation: null, leaseId: null });
  });

  it('asks for another lease once an owner has ended its lease', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    for (const lease of ledger.leases.values()) lease.isReturned = true;
    await call.settle({ amountMicros: 1, durable: true });
    expect((await allowed(tollkeeper)).leaseId).not.toBe(call.leaseId);
  });

  it('rejects with the reason of its signal', async () => {
    const tollkeeper = await start({ answers: [hang] });
    const abort = new AbortController();
    const call = tollkeeper.reserve({ ...ASKED, signal: abort.signal });
    await eventually(() => expect(server.received).toHaveLength(1));
    abort.abort();
    await expect(call).rejects.toBe(abort.signal.reason);
    await expect(tollkeeper.reserve({ ...ASKED, signal: abort.signal })).rejects.toBe(abort.signal.reason);
  });

  it.each([
    [{ targetSeconds: 0 }, 'leases.targetSeconds'],
    [{ maxMicros: 0.5 }, 'leases.maxMicros'],
    [{ ttlSeconds: 9 }, 'leases.ttlSeconds'],
  ])('refuses %j by its name', async (leases, name) => {
    await start();
    expect(() => createTollkeeper({ url: server.url, key: 'k', leases })).toThrow(new RegExp(`^${name} must be`));
  });
});

describe('a call from a lease', () => {
  const settlements = () =>
    server.bodies<{ settlements: { settlement_id: string }[] }>(':settle').map((body) => body.settlements);

  it('is settled with those of the same time in one request', async () => {
    const tollkeeper = await start();
    const calls = await Promise.all(['run-1', 'run-2', 'run-3'].map((runId) => allowed(tollkeeper, { runId })));
    for (const call of calls) await call.settle({ amountMicros: 7, model: 'm', inputTokens: 1, outputTokens: 2 });
    expect(settlements()).toEqual([]);
    await tollkeeper.flush();
    const cost = { amount_micros: 7, model: 'm', input_tokens: 1, output_tokens: 2, occurred_at: expect.any(String) };
    const sent = calls.map(({ requestId }, index) => ({
      settlement_id: requestId,
      run_id: `run-${index + 1}`,
      ...cost,
    }));
    expect(settlements()).toEqual([sent]);
    expect(ledger.posted()).toBe(21);
  });

  it('is sent within a moment without a flush', async () => {
    const tollkeeper = await start();
    await (await allowed(tollkeeper)).settle({ amountMicros: 7 });
    await eventually(() => expect(ledger.posted()).toBe(7));
  });

  it.each<[string, Answer]>([
    ['an answer that is lost', decideAndReset],
    ['503', error(503, 'service_unavailable')],
    ['a quota', error(429, 'rate_limited', { 'retry-after': '0' })],
    ['a key that is refused for a while', error(401, 'unauthenticated')],
  ])('is settled once after %s, with the same ids', async (_, failure) => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    server.answers = [failure, failure, decide];
    await call.settle({ amountMicros: 7 });
    await tollkeeper.flush();
    const [first, ...others] = settlements();
    expect(others).toEqual([first, first]);
    expect(ledger.posted()).toBe(7);
  });

  it('is sent with fewer others after a failure, since a slow server answers those in time', async () => {
    const tollkeeper = await start();
    const settle = async () => (await allowed(tollkeeper, { amountMicros: 1 })).settle({ amountMicros: 1 });
    await settle();
    await tollkeeper.flush();
    let fail = () => {};
    server.answers = [
      (response, request) => {
        const isFirst = request.path.endsWith(':settle') && settlements().length === 2;
        if (isFirst) fail = () => error(503, 'service_unavailable')(response, request);
        else decide(response, request);
      },
    ];
    for (let count = 0; count < 600; count += 1) await settle();
    await eventually(() => expect(settlements()).toHaveLength(2));
    fail();
    await tollkeeper.flush();
    expect(ledger.posted()).toBe(601);
    expect(settlements()[2]).toHaveLength(500);
  });

  it('is durable when that is awaited', async () => {
    const tollkeeper = await start();
    await (await allowed(tollkeeper)).settle({ amountMicros: 7, durable: true });
    expect(ledger.posted()).toBe(7);
  });

  it('is said not to be durable in time, and still settled', async () => {
    const tollkeeper = await start({ options: { settleTimeoutMs: 200 } });
    const call = await allowed(tollkeeper);
    server.answers = [hang, decide];
    await expect(call.settle({ amountMicros: 7, durable: true })).rejects.toMatchObject({
      code: 'timeout',
      message: 'Tollkeeper did not accept the spend in time. It is still being sent.',
    });
    await tollkeeper.flush();
    expect(ledger.posted()).toBe(7);
  });

  it('is reported as an event if its lease is unknown, and others are settled beside one that is refused', async () => {
    const tollkeeper = await start();
    const calls = await Promise.all(['run-1', 'bad', 'run-3'].map((runId) => allowed(tollkeeper, { runId })));
    server.answers = [
      (response, request) => {
        const isBad = JSON.stringify(request.body).includes('"bad"');
        if (request.path.endsWith('/events')) json(202, { accepted: 1 })(response, request);
        else (isBad ? error(400, 'invalid_request') : decide)(response, request);
      },
    ];
    for (const call of calls) await call.settle({ amountMicros: 7 });
    await tollkeeper.flush();
    expect(ledger.posted()).toBe(14);
    const data = { agent_id: 'agent-a', run_id: 'bad', amount_micros: 7, settlement_id: calls[1]?.requestId };
    expect(server.bodies('/events')).toEqual([[expect.objectContaining({ type: 'spend.settled', data })]]);
  });

  it('makes the next flush reject if it is lost', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    server.answers = [error(404, 'not_found'), error(400, 'invalid_request')];
    await call.settle({ amountMicros: 7 });
    await expect(tollkeeper.flush()).rejects.toMatchObject({ code: 'invalid_request' });
    await tollkeeper.flush();
  });

  it.each([
    ['amountMicros', { amountMicros: 0.5 }],
    ['inputTokens', { amountMicros: 1, inputTokens: -1 }],
    ['outputTokens', { amountMicros: 1, outputTokens: NaN }],
    ['model', { amountMicros: 1, model: '' }],
    ['provider', { amountMicros: 1, provider: 'p'.repeat(129) }],
    ['settlementId', { amountMicros: 1, settlementId: 'a b' }],
  ])('is not settled with a wrong %s, and can be settled then', async (path, cost) => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    const failure = (await call.settle(cost).catch((thrown: unknown) => thrown)) as TollkeeperError;
    expect(failure).toBeInstanceOf(TollkeeperError);
    expect(failure).toMatchObject({ code: 'invalid_request', details: [{ path }] });
    await call.settle({ amountMicros: 1, durable: true });
    expect(ledger.posted()).toBe(1);
  });

  it('counts once, however often it is settled', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    await call.settle({ amountMicros: 7 });
    await call.settle({ amountMicros: 7 });
    await call.settle({ amountMicros: 7, durable: true });
    await expect(call.settle({ amountMicros: 7, settlementId: 'another' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(call.release()).rejects.toMatchObject({ code: 'conflict' });
    await expect(call.extend(60)).rejects.toMatchObject({ code: 'conflict' });
    expect(ledger.posted()).toBe(7);
  });

  it('is free again once it is released, and then not settled', async () => {
    const tollkeeper = await start({ answers: [decide, hang] });
    const call = await allowed(tollkeeper, { amountMicros: 100 });
    expect([await call.release(), await call.release()]).toEqual([null, null]);
    expect((await allowed(tollkeeper, { amountMicros: 200 })).leaseId).toBe(call.leaseId);
    await expect(call.settle({ amountMicros: 1 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(call.extend(60)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is extended, by a time that a reservation may have', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    expect(await call.extend(3_600)).toBe(null);
    await expect(call.extend(3_601)).rejects.toMatchObject({ details: [{ path: 'ttlSeconds' }] });
  });
});

describe('close', () => {
  it('settles and returns, so that nothing is held', async () => {
    const tollkeeper = await start();
    const calls = await Promise.all(['agent-a', 'agent-b'].map((agentId) => allowed(tollkeeper, { agentId })));
    for (const call of calls) await call.settle({ amountMicros: 7 });
    await tollkeeper.close();
    expect(ledger.posted()).toBe(14);
    expect(ledger.held()).toBe(0);
    expect([...ledger.leases.values()].map(({ isReturned }) => isReturned)).toEqual([true, true]);
  });

  it('does not return a lease that a call holds, whose settlement still counts in it', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    await tollkeeper.close();
    expect(ledger.held()).toBe(200);
    await call.settle({ amountMicros: 7, durable: true });
    expect(ledger.lateMicros).toBe(0);
  });

  it('grants nothing from leases any more', async () => {
    const tollkeeper = await start();
    await (await allowed(tollkeeper)).release();
    await tollkeeper.close();
    expect((await allowed(tollkeeper)).reservation).not.toBe(null);
  });

  it('gives up with the reason of its signal', async () => {
    const tollkeeper = await start();
    const call = await allowed(tollkeeper);
    server.answers = [hang];
    await call.settle({ amountMicros: 7 });
    const abort = new AbortController();
    const closing = tollkeeper.close({ signal: abort.signal });
    await eventually(() => expect(server.bodies(':settle')).toHaveLength(1));
    abort.abort();
    await expect(closing).rejects.toBe(abort.signal.reason);
  });
});
