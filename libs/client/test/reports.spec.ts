import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createTollkeeper,
  type GatewayEvent,
  type ReportedEvent,
  type ReporterOptions,
  type TollkeeperError,
} from '../src/index.ts';
import { eventually } from '@tollkeeper/testing';
import { type Answer, error, hang, json, reset, startStubServer, type StubServer } from './stub.server.ts';

const accept: Answer = (response, { body }) =>
  json(202, { accepted: (body as unknown[]).length, request_id: 'req-1' })(response, {} as never);
const NEVER_BY_ITSELF = { lingerMs: 3_600_000 };

let server: StubServer;
afterEach(() => server.stop());

async function start(answers: Answer[], reporting: Partial<ReporterOptions> = {}) {
  server = await startStubServer(...answers);
  return createTollkeeper({ url: server.url, key: 'ws_live_1.secret', reporting });
}

function spend(settlementId: string): ReportedEvent {
  const data = { settlement_id: settlementId, run_id: 'run-1', agent_id: 'agent-a', amount_micros: 1 };
  return { type: 'spend.settled', data };
}
const spends = (count: number) => Array.from({ length: count }, (_, index) => spend(`s-${index}`));

const settlementOf = (event: GatewayEvent) => (event.data as { settlement_id: string }).settlement_id;
const settlementsSent = () => server.bodies<GatewayEvent[]>('/events').map((batch) => batch.map(settlementOf));

/** `accepted`, or the code of the error. */
const outcomes = async (reports: Promise<void>[]) =>
  (await Promise.allSettled(reports)).map((result) =>
    result.status === 'fulfilled' ? 'accepted' : ((result.reason as TollkeeperError).code ?? result.reason),
  );

describe('report', () => {
  it('fills in what an event lacks, and keeps what it has', async () => {
    const tollkeeper = await start([accept]);
    const own = { id: 'event-1', source: '/gateways/a', time: '2026-11-21T18:00:00.000Z' };
    await tollkeeper.report([spend('s-1'), { ...spend('s-2'), ...own }]);
    const [request] = server.received;
    expect(request?.headers['content-type']).toBe('application/cloudevents-batch+json');
    const common = { specversion: '1.0', type: 'spend.settled' };
    expect(request?.body).toEqual([
      {
        ...common,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        source: 'tollkeeper-client',
        time: expect.stringMatching(/Z$/),
        data: spend('s-1').data,
      },
      { ...common, ...own, data: spend('s-2').data },
    ]);
  });

  it.each<[string, Answer[]]>([
    ['a reset and 503', [reset, error(503, 'service_unavailable')]],
    ['a quota', [error(429, 'rate_limited', { 'retry-after': '0' })]],
  ])('sends the very same events again after %s', async (_, failures) => {
    const tollkeeper = await start([...failures, accept]);
    await tollkeeper.report(spends(3));
    const [first, ...others] = server.bodies('/events');
    expect(first).toHaveLength(3);
    expect(others).toEqual(failures.map(() => first));
  });

  it('sends what it was given, whatever is done to the event afterwards', async () => {
    const tollkeeper = await start([accept], NEVER_BY_ITSELF);
    const event = spend('before');
    const report = tollkeeper.report(event);
    (event.data as { settlement_id: string }).settlement_id = 'after';
    await tollkeeper.flush();
    await report;
    expect(settlementsSent()).toEqual([['before']]);
  });

  it('makes one request of what is reported meanwhile, each event once and in order', async () => {
    const gate = Promise.withResolvers<void>();
    const tollkeeper = await start([
      (...all) => {
        void gate.promise.then(() => accept(...all));
      },
      accept,
    ]);
    const first = tollkeeper.report(spend('first'));
    await eventually(() => expect(server.received).toHaveLength(1));
    const reports = spends(2_500).map((event) => tollkeeper.report(event));
    gate.resolve();
    await Promise.all([first, ...reports]);
    const batches = settlementsSent();
    expect(batches.map(({ length }) => length)).toEqual([1, 1_000, 1_000, 500]);
    expect(batches.slice(1).flat()).toEqual(spends(2_500).map((event) => settlementOf(event as GatewayEvent)));
  });

  it('divides a large report, by events and by bytes', async () => {
    const tollkeeper = await start([accept]);
    await tollkeeper.report(spends(2_001));
    const long = 'ä'.repeat(1_000_000);
    await tollkeeper.report(Array.from({ length: 3 }, () => ({ ...spend('long'), subject: long })));
    expect(settlementsSent().map(({ length }) => length)).toEqual([1_000, 1_000, 1, 2, 1]);
  });

  it('does not linger once a whole batch waits', async () => {
    const tollkeeper = await start([accept], NEVER_BY_ITSELF);
    await Promise.all(spends(1_000).map((event) => tollkeeper.report(event)));
    expect(settlementsSent().map(({ length }) => length)).toEqual([1_000]);
  });

  it('refuses the report that is not valid, and no other', async () => {
    const tollkeeper = await start([
      (response, request) => {
        const ids = (request.body as GatewayEvent[]).map(settlementOf);
        (ids.includes('bad') ? error(400, 'invalid_request') : accept)(response, request);
      },
    ]);
    const reports = ['a', 'b', 'bad', 'c', 'd'].map((id) => tollkeeper.report(spend(id)));
    expect(await outcomes(reports)).toEqual(['accepted', 'accepted', 'invalid_request', 'accepted', 'accepted']);
  });

  it('asks once only if all would be refused for the same reason', async () => {
    const tollkeeper = await start([error(401, 'unauthenticated')]);
    expect(await outcomes([tollkeeper.report(spend('a')), tollkeeper.report(spend('b'))])).toEqual(
      Array(2).fill('unauthenticated'),
    );
    expect(server.received).toHaveLength(1);
  });

  it('takes no more than the queue holds, whole reports or nothing', async () => {
    const tollkeeper = await start([accept], { ...NEVER_BY_ITSELF, maxQueued: 3 });
    const reports = [tollkeeper.report(spends(2)), tollkeeper.report(spends(2)), tollkeeper.report(spend('third'))];
    await tollkeeper.flush();
    expect(await outcomes(reports)).toEqual(['accepted', 'queue_full', 'accepted']);
    expect(settlementsSent()).toEqual([['s-0', 's-1', 'third']]);
    // There is room again.
    const again = tollkeeper.report(spends(3));
    await tollkeeper.flush();
    expect(await outcomes([again])).toEqual(['accepted']);
  });

  it('says that Tollkeeper is down once the time of the batch is over, and takes the next report', async () => {
    const tollkeeper = await start([error(503, 'service_unavailable', { 'retry-after': '60' }), accept], {
      timeoutMs: 5_000,
    });
    await expect(tollkeeper.report(spend('a'))).rejects.toMatchObject({ name: 'TollkeeperUnavailable', status: 503 });
    await tollkeeper.report(spend('b'));
    expect(settlementsSent()).toEqual([['a'], ['b']]);
  });

  it('rejects each report when its own time is over, however many wait while Tollkeeper hangs', async () => {
    const tollkeeper = await start([hang], { timeoutMs: 1_000, lingerMs: 0 });
    const startedAt = performance.now();
    const ends: number[] = [];
    const reports = Array.from({ length: 10 }, (_, index) =>
      tollkeeper.report(spends(1000)).finally(() => (ends[index] = performance.now() - startedAt)),
    );
    expect(await outcomes(reports)).toEqual(Array(10).fill('timeout'));
    await tollkeeper.close();
    // One after another would take ten seconds.
    expect(Math.max(...ends)).toBeLessThan(5_000);
  });

  it('continues with what was reported later when the time of the first is over', async () => {
    const tollkeeper = await start([hang, hang, accept], { timeoutMs: 2_500, lingerMs: 1_500 });
    const first = tollkeeper.report(spend('first'));
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    const abort = new AbortController();
    const aborted = tollkeeper.report(spend('aborted'), { signal: abort.signal });
    const later = tollkeeper.report(spend('later'));
    await eventually(() => expect(server.received).toHaveLength(1));
    abort.abort('not needed');
    expect(await outcomes([first, aborted, later])).toEqual(['timeout', 'not needed', 'accepted']);
    expect(settlementsSent()[0]).toEqual(['first', 'aborted', 'later']);
    expect(settlementsSent().at(-1)).toEqual(['later']);
  });

  it('says so when something else than Tollkeeper answers that all is well', async () => {
    const tollkeeper = await start([(response) => response.writeHead(204).end()]);
    expect(await outcomes([tollkeeper.report(spend('a'))])).toEqual(['invalid_answer']);
  });

  it('fills in what an event has as undefined', async () => {
    const tollkeeper = await start([accept]);
    await tollkeeper.report({ ...spend('s-1'), ...({ id: undefined, time: undefined, source: undefined } as object) });
    expect(server.bodies<GatewayEvent[]>('/events')[0]).toMatchObject([
      { id: expect.any(String), time: expect.any(String), source: 'tollkeeper-client' },
    ]);
  });

  it('takes no more than the queue holds in bytes', async () => {
    const tollkeeper = await start([accept], NEVER_BY_ITSELF);
    const large = () => ({ ...spend('large'), subject: 'x'.repeat(1024 * 1024) });
    const reports = Array.from({ length: 33 }, () => tollkeeper.report(large()));
    const answered = outcomes(reports);
    await tollkeeper.flush();
    const answers = await answered;
    expect(answers.filter((answer) => answer === 'queue_full')).toHaveLength(2);
    expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(31);
  });

  it('takes what is aborted out of the queue', async () => {
    const tollkeeper = await start([accept], { ...NEVER_BY_ITSELF, maxQueued: 2 });
    const abort = new AbortController();
    const aborted = tollkeeper.report(spend('a'), { signal: abort.signal });
    const other = tollkeeper.report(spend('b'));
    abort.abort('not needed');
    expect(await outcomes([aborted])).toEqual(['not needed']);
    const third = tollkeeper.report(spend('c'));
    await tollkeeper.flush();
    expect(await outcomes([other, third])).toEqual(['accepted', 'accepted']);
    expect(settlementsSent()).toEqual([['b', 'c']]);
    expect(await outcomes([tollkeeper.report(spend('d'), { signal: abort.signal })])).toEqual(['not needed']);
  });

  it('sends what was aborted in flight no second time, when its batch is refused', async () => {
    const refuse = Promise.withResolvers<void>();
    const tollkeeper = await start([
      (...all) => void refuse.promise.then(() => error(400, 'invalid_request')(...all)),
      accept,
    ]);
    const abort = new AbortController();
    const aborted = tollkeeper.report(spend('a'), { signal: abort.signal });
    const other = tollkeeper.report(spend('b'));
    await eventually(() => expect(server.received).toHaveLength(1));
    abort.abort('not needed');
    refuse.resolve();
    expect(await outcomes([aborted, other])).toEqual(['not needed', 'accepted']);
    expect(settlementsSent()).toEqual([['a', 'b'], ['b']]);
  });
});

describe('flush and close', () => {
  it('have nothing to do without events', async () => {
    const tollkeeper = await start([accept]);
    await tollkeeper.report([]);
    await tollkeeper.flush();
    await tollkeeper.close();
    expect(server.received).toEqual([]);
  });

  it('wait for what was reported, accepted or refused', async () => {
    const tollkeeper = await start([accept, error(403, 'forbidden')], NEVER_BY_ITSELF);
    const order: string[] = [];
    const first = tollkeeper.report(spend('a')).then(() => order.push('accepted'));
    await tollkeeper.flush();
    order.push('flushed');
    const second = tollkeeper.report(spend('b')).catch(() => order.push('refused'));
    await tollkeeper.close();
    order.push('closed');
    await Promise.all([first, second]);
    expect(order).toEqual(['accepted', 'flushed', 'refused', 'closed']);
  });

  it('close takes nothing more', async () => {
    const tollkeeper = await start([accept]);
    await tollkeeper.close();
    expect(await outcomes([tollkeeper.report(spend('a'))])).toEqual(['closed']);
    expect(server.received).toEqual([]);
  });

  it('close gives up what is left when its signal is aborted', async () => {
    const tollkeeper = await start([hang]);
    const inFlight = tollkeeper.report(spend('a'));
    await eventually(() => expect(server.received).toHaveLength(1));
    const waiting = tollkeeper.report(spend('b'));
    const abort = new AbortController();
    const closed = tollkeeper.close({ signal: abort.signal });
    abort.abort('in a hurry');
    await closed;
    expect(await outcomes([inFlight, waiting])).toEqual(['in a hurry', 'in a hurry']);
    expect(server.received).toHaveLength(1);
  });
});
