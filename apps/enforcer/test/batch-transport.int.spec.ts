import { describe, expect, it } from '@jest/globals';
import { DEFAULT_REPORT_MAPPING } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { useTransports } from './transports.fixture.ts';
import {
  MAX,
  held,
  settled,
  row,
  denial,
  heldMessage,
  settledMessage,
  rowMessage,
  denialMessage,
} from './transports.samples.ts';

const CALLS_PER_SECOND = 20;
const BATCHES = ['ReserveMany', 'SettleMany', 'ReleaseMany'] as const;
const RELEASE = { reservationId: 'rsv_1' };

const { ports, issued, metrics, clock, callGrpc } = useTransports(
  {
    decision: { decision: 'allowed', reservation: held, limits: [row] },
    reservation: settled,
    view: { day: { start: 0, end: 1, timezone: 'UTC' }, items: [] },
    page: { items: [], nextCursor: null },
  },
  CALLS_PER_SECOND,
);

const reserveRequest = { requestId: 'req-1', agentId: 'agent-1', runId: 'run-1', amountMicros: 500 };

describe('a gateway that asks for many at once', () => {
  it('is answered each as if it had come alone, in their order', async () => {
    const { apiKey, tenantId, keyId } = issued.issue();
    const key = { tenantId, keyId, role: 'developer', labels: {}, watched: false, reports: DEFAULT_REPORT_MAPPING };
    const rest = { planKey: null, ttlSeconds: 600, model: null, provider: null, labels: {} };
    const requests = ['req-1', 'req-2'].map((requestId) => ({ ...reserveRequest, requestId }));
    const response = { decision: 'allowed', allowed: { reservation: heldMessage }, limits: [rowMessage] };
    expect(await callGrpc('ReserveMany', { requests }, apiKey)).toEqual({
      results: Array(2).fill({ result: 'response', response }),
    });
    const settlements = ['rsv_1', 'rsv_2'].map((reservationId) => ({
      ...{ reservationId, settlementId: 'stl-1', amountMicros: 0, model: 'm', provider: 'p' },
      ...{ inputTokens: 0, outputTokens: 2 },
    }));
    const ended = { results: Array(2).fill({ result: 'reservation', reservation: settledMessage }) };
    expect(await callGrpc('SettleMany', { requests: settlements }, apiKey)).toEqual(ended);
    const releases = settlements.map(({ reservationId }) => ({ reservationId }));
    expect(await callGrpc('ReleaseMany', { requests: releases }, apiKey)).toEqual(ended);
    expect(ports.asked).toEqual([
      ...requests.map((each) => ['reserve', key, { ...each, ...rest }, { dryRun: false }]),
      ...settlements.map(({ reservationId, ...settlement }) => ['settle', tenantId, reservationId, settlement]),
      ...releases.map(({ reservationId }) => ['release', tenantId, reservationId]),
    ]);
  });

  it('gets each denial as an answer', async () => {
    ports.decision = { decision: 'denied', denial, limits: [row] };
    const { results } = await callGrpc('ReserveMany', { requests: [reserveRequest] }, issued.issue().apiKey);
    const response = { decision: 'denied', denied: denialMessage, limits: [rowMessage] };
    expect(results).toEqual([{ result: 'response', response }]);
  });

  it('gets an error in the place of each bad request, and answers for the others', async () => {
    const { apiKey } = issued.issue();
    const wrong = { ...reserveRequest, requestId: 'a b', amountMicros: undefined };
    const { results } = await callGrpc('ReserveMany', { requests: [reserveRequest, wrong, reserveRequest] }, apiKey);
    const asked = { result: 'response', response: { decision: 'allowed' } };
    const error = { code: 'invalid_request', message: 'The request has 2 problems; see details.' };
    expect(results).toMatchObject([asked, { result: 'error', error }, asked]);
    expect((results as { error: { details: unknown } }[])[1]!.error.details).toEqual([
      { path: 'request_id', message: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -' },
      { path: 'amount_micros', message: 'must be given' },
    ]);
    expect(ports.asked).toHaveLength(2);
  });

  it('learns why each was refused, without what it may not know, and each is counted', async () => {
    const { apiKey } = issued.issue();
    ports.failure = new AppError('service_unavailable', 'A sentence.', { retryAfterSeconds: 3 });
    const refused = { code: 'service_unavailable', message: 'A sentence.', details: [], retryAfterSeconds: 3 };
    expect(await callGrpc('ReleaseMany', { requests: [RELEASE, RELEASE] }, apiKey)).toEqual({
      results: Array(2).fill({ result: 'error', error: { ...refused, _retryAfterSeconds: 'retryAfterSeconds' } }),
    });
    ports.failure = new Error('connection string of the database');
    const failed = { code: 'internal', message: 'Something went wrong in the service.', details: [] };
    expect(
      await callGrpc('SettleMany', { requests: [{ ...RELEASE, settlementId: 's', amountMicros: 1 }] }, apiKey),
    ).toEqual({ results: [{ result: 'error', error: failed }] });
    const { values } = await metrics.registry.getSingleMetric('grpc_server_batched_requests_total')!.get();
    const counted = (rpc: string, code: string) =>
      values.find(({ labels }) => labels['code'] === code && String(labels['method']).endsWith(rpc))?.value;
    expect([counted('/ReleaseMany', 'UNAVAILABLE'), counted('/SettleMany', 'INTERNAL')]).toEqual([2, 1]);
  });

  it.each(BATCHES)('asks %s for 1 to 50, else nothing is done', async (rpc) => {
    for (const count of [0, 51, 2_000]) {
      const answer = await callGrpc(rpc, { requests: Array(count).fill(RELEASE) }, issued.issue().apiKey);
      expect(answer).toMatchObject({
        ...{ status: 'INVALID_ARGUMENT', code: 'invalid_request' },
        details: [{ path: 'requests', message: count === 0 ? 'must not be empty' : 'must have at most 50 requests' }],
      });
    }
    expect(ports.asked).toEqual([]);
  });

  it('has room for 50 of the largest requests', async () => {
    const id = 'x'.repeat(128);
    const text = '\u4e2d'.repeat(42);
    const tokens = { inputTokens: MAX, outputTokens: MAX };
    const settlement = {
      reservationId: id,
      settlementId: id,
      amountMicros: MAX,
      model: text,
      provider: text,
      ...tokens,
    };
    const { apiKey } = issued.issue();
    const { results } = await callGrpc('SettleMany', { requests: Array(50).fill(settlement) }, apiKey);
    expect(results).toEqual(Array(50).fill({ result: 'reservation', reservation: settledMessage }));

    const names = Array.from({ length: 10 }, (_, nth) => `${nth}`.padStart(32, 'n'));
    const labels = Object.fromEntries(names.map((name) => [name, '\u4e2d'.repeat(128)]));
    const ids = { requestId: id, agentId: id, runId: id, planKey: 'x'.repeat(64) };
    const request = { ...reserveRequest, ...ids, model: text, provider: text, labels };
    const reserved = await callGrpc('ReserveMany', { requests: Array(50).fill(request) }, apiKey);
    expect(reserved).toMatchObject({ results: Array(50).fill({ result: 'response' }) });
  });

  it('has a quota that counts each request of a batch, with one for those that end reservations', async () => {
    const { apiKey } = issued.issue();
    const ask = (count: number) => callGrpc('ReserveMany', { requests: Array(count).fill(reserveRequest) }, apiKey);
    expect(await ask(CALLS_PER_SECOND - 1)).toHaveProperty('results');
    // One remaining unit admits a whole batch, which uses up the following quota.
    expect(await ask(50)).toHaveProperty('results');
    const seconds = Math.ceil(50 / CALLS_PER_SECOND);
    const refused = { status: 'RESOURCE_EXHAUSTED', code: 'rate_limited', retryAfterSeconds: seconds };
    expect(await ask(1)).toMatchObject(refused);
    expect(await callGrpc('GetReservation', RELEASE, apiKey)).toMatchObject(refused);
    expect(ports.asked).toHaveLength(CALLS_PER_SECOND + 49);

    const end = (rpc: 'SettleMany' | 'ReleaseMany') => callGrpc(rpc, { requests: Array(40).fill(RELEASE) }, apiKey);
    expect(await end('SettleMany')).toHaveProperty('results');
    expect(await end('ReleaseMany')).toMatchObject({ status: 'RESOURCE_EXHAUSTED', code: 'rate_limited' });
  });

  it('has 256 requests in flight at a time, those of batches too', async () => {
    const workspaces = [issued.issue(), issued.issue()] as const;
    let answer = (): void => {};
    ports.ready = new Promise((resolve) => (answer = resolve));
    // A batch is admitted while any quota is left, so one is admitted each second.
    const inFlight: Promise<unknown>[] = [];
    let asked = 0;
    const begin = async (apiKey: string, count: number) => {
      inFlight.push(callGrpc('ReserveMany', { requests: Array(count).fill(reserveRequest) }, apiKey));
      asked += count;
      await eventually(async () => expect(ports.asked).toHaveLength(asked));
      clock.now += 60_000;
    };
    for (let batch = 0; batch < 5; batch += 1) await begin(workspaces[0].apiKey, 50);
    const requests = Array(7).fill(reserveRequest);
    const refused = await callGrpc('ReserveMany', { requests }, workspaces[0].apiKey);
    expect(refused).toMatchObject({ status: 'RESOURCE_EXHAUSTED', code: 'rate_limited', retryAfterSeconds: 1 });
    await begin(workspaces[1].apiKey, 7);
    await begin(workspaces[0].apiKey, 6);
    answer();
    for (const answered of await Promise.all(inFlight)) expect(answered).toHaveProperty('results');
    expect(await callGrpc('ReserveMany', { requests }, workspaces[0].apiKey)).toHaveProperty('results');
  });
});
