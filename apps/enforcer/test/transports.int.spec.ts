import { describe, expect, it } from '@jest/globals';
import { DEFAULT_REPORT_MAPPING } from '@tollkeeper/contracts';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { useTransports } from './transports.fixture.ts';
import {
  RESETS_AT,
  held,
  settled,
  row,
  denial,
  heldBody,
  settledBody,
  rowBody,
  denialBody,
  heldMessage,
  settledMessage,
  rowMessage,
  denialMessage,
} from './transports.samples.ts';

const CALLS_PER_SECOND = 20;
const RESERVATIONS = '/api/v1/reservations';
const LIMITS = '/api/v1/limits';

const { ports, issued, peers, metrics, callHttp, callGrpc, clock } = useTransports(
  {
    decision: { decision: 'allowed', reservation: held, limits: [row] },
    reservation: settled,
    view: {
      day: { start: RESETS_AT - 86_400_000, end: RESETS_AT, timezone: 'UTC' },
      items: [
        {
          ...row,
          openReservations: 3,
          openLeases: 2,
          overspendMicros: { above_hold: 4, late: 5, unreserved: 6 },
          released: 7,
          expired: 8,
          filledPercent: 40,
          paceEndMicros: 90,
        },
      ],
    },
    page: { items: [held, settled], nextCursor: 'next' },
  },
  CALLS_PER_SECOND,
);

const reserveBody = { request_id: 'req-1', agent_id: 'agent-1', run_id: 'run-1', amount_micros: 500 };
const reserveRequest = { requestId: 'req-1', agentId: 'agent-1', runId: 'run-1', amountMicros: 500 };
const settleBody = { settlement_id: 'stl-1', amount_micros: 0 };

describe('a gateway with a workspace key', () => {
  it('is granted a reservation by both transports alike', async () => {
    const { apiKey, tenantId, keyId } = issued.issue('developer', { env: 'prod' });
    const http = await callHttp({ method: 'post', path: RESERVATIONS, body: reserveBody, apiKey });
    expect(http).toMatchObject({
      status: 201,
      body: { decision: 'allowed', reservation: heldBody, limits: [rowBody] },
    });
    expect(await callGrpc('Reserve', reserveRequest, apiKey)).toEqual({
      decision: 'allowed',
      allowed: { reservation: heldMessage },
      limits: [rowMessage],
    });
    const request = { ...reserveRequest, planKey: null, ttlSeconds: 600, model: null, provider: null, labels: {} };
    const key = {
      tenantId,
      keyId,
      role: 'developer',
      labels: { env: 'prod' },
      watched: false,
      reports: DEFAULT_REPORT_MAPPING,
    };
    const asked = ['reserve', key, request, { dryRun: false }];
    expect(ports.asked).toEqual([asked, asked]);
  });

  it('may say everything that a request has, by both transports alike', async () => {
    const { apiKey } = issued.issue('admin');
    const call = { model: 'large-1', provider: 'acme', labels: { team: 'growth' } };
    const body = { ...reserveBody, ...call, plan_key: 'pro', ttl_seconds: 10, dry_run: true };
    await callHttp({ method: 'post', path: RESERVATIONS, body, apiKey });
    const request = { ...reserveRequest, ...call, planKey: 'pro', ttlSeconds: 10 };
    await callGrpc('Reserve', { ...request, dryRun: true }, apiKey);
    const asked = [request, { dryRun: true }];
    expect(ports.asked.map((call) => call.slice(2))).toEqual([asked, asked]);
  });

  it('gets a denial as an answer, not an error', async () => {
    ports.decision = { decision: 'denied', denial, limits: [row] };
    const { apiKey } = issued.issue();
    const http = await callHttp({ method: 'post', path: RESERVATIONS, body: reserveBody, apiKey });
    expect(http).toMatchObject({ status: 200, body: { decision: 'denied', denial: denialBody, limits: [rowBody] } });
    expect(await callGrpc('Reserve', reserveRequest, apiKey)).toEqual({
      decision: 'denied',
      denied: denialMessage,
      limits: [rowMessage],
    });
  });

  it('learns with 200 that a dry run holds nothing', async () => {
    ports.decision = { decision: 'allowed', reservation: null, limits: [] };
    const { apiKey } = issued.issue();
    const body = { ...reserveBody, dry_run: true };
    expect(await callHttp({ method: 'post', path: RESERVATIONS, body, apiKey })).toMatchObject({
      status: 200,
      body: { decision: 'allowed', reservation: null, limits: [] },
    });
    const grpc = await callGrpc('Reserve', { ...reserveRequest, dryRun: true }, apiKey);
    expect(grpc).toEqual({ decision: 'allowed', allowed: { reservation: null }, limits: [] });
  });

  it('reads, settles, releases and extends a reservation', async () => {
    const { apiKey, tenantId } = issued.issue();
    const one = `${RESERVATIONS}/rsv_1`;
    const full = { ...settleBody, model: 'm', provider: 'p', input_tokens: 0, output_tokens: 2 };
    const answers = [
      await callHttp({ method: 'get', path: one, apiKey }),
      await callHttp({ method: 'post', path: `${one}:settle`, body: full, apiKey }),
      await callHttp({ method: 'post', path: `${one}:release`, apiKey }),
      await callHttp({ method: 'post', path: `${one}:extend`, body: { ttl_seconds: 3600 }, apiKey }),
    ];
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      Array(4).fill({ status: 200, body: settledBody }),
    );
    const overHttp = ports.asked.splice(0);

    const reservationId = 'rsv_1';
    const settlement = { settlementId: 'stl-1', amountMicros: 0, model: 'm', provider: 'p' };
    const messages = [
      await callGrpc('GetReservation', { reservationId }, apiKey),
      await callGrpc('Settle', { reservationId, ...settlement, inputTokens: 0, outputTokens: 2 }, apiKey),
      await callGrpc('Release', { reservationId }, apiKey),
      await callGrpc('Extend', { reservationId, ttlSeconds: 3600 }, apiKey),
    ];
    expect(messages).toEqual(Array(4).fill({ reservation: settledMessage }));

    expect(overHttp).toEqual([
      ['get', tenantId, 'rsv_1'],
      ['settle', tenantId, 'rsv_1', { ...settlement, inputTokens: 0, outputTokens: 2 }],
      ['release', tenantId, 'rsv_1'],
      ['extend', tenantId, 'rsv_1', 3600],
    ]);
    expect(ports.asked).toEqual(overHttp);
  });

  it('reads every state of a reservation', async () => {
    const { apiKey } = issued.issue();
    const states = ['held', 'settled', 'released', 'expired'] as const;
    for (const state of states) {
      ports.reservation = { ...held, state };
      const { reservation } = await callGrpc('GetReservation', { reservationId: 'rsv_1' }, apiKey);
      expect(reservation).toMatchObject({ state: `RESERVATION_STATE_${state.toUpperCase()}` });
      const http = await callHttp({ method: 'get', path: `${RESERVATIONS}/rsv_1`, apiKey });
      expect(http.body).toMatchObject({ state });
    }
  });

  it('learns everything that is wrong with a request, and nothing is done', async () => {
    const { apiKey } = issued.issue();
    const body = { request_id: 'a b', run_id: 'r', amount_micros: -1, ttl_seconds: 9, plan_key: 'Pro', extra: 1 };
    const http = await callHttp({ method: 'post', path: RESERVATIONS, body, apiKey });
    expect(http).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    const paths = (problems: unknown) => (problems as { path: string }[]).map(({ path }) => path).toSorted();
    const wrong = ['agent_id', 'amount_micros', 'plan_key', 'request_id', 'ttl_seconds'];
    expect(paths(http.body['details'])).toEqual([...wrong, 'extra'].toSorted());
    const request = { requestId: 'a b', runId: 'r', amountMicros: -1, ttlSeconds: 9, planKey: 'Pro' };
    const grpc = await callGrpc('Reserve', request, apiKey);
    expect(grpc).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'invalid_request' });
    expect(paths(grpc['details'])).toEqual(wrong);
    expect(ports.asked).toEqual([]);
  });

  it.each([
    ['request_id_reused', 409, 'ALREADY_EXISTS'],
    ['conflict', 409, 'ALREADY_EXISTS'],
    ['not_found', 404, 'NOT_FOUND'],
    ['service_unavailable', 503, 'UNAVAILABLE'],
  ] as const)('gets %s as %d and %s', async (code, httpStatus, grpcStatus) => {
    const { apiKey } = issued.issue();
    ports.failure = new AppError(code, 'A sentence.', { retryAfterSeconds: 3 });
    const http = await callHttp({ method: 'get', path: `${RESERVATIONS}/rsv_1`, apiKey });
    expect(http).toMatchObject({ status: httpStatus, body: { code, error: 'A sentence.' }, retryAfter: '3' });
    const grpc = await callGrpc('GetReservation', { reservationId: 'rsv_1' }, apiKey);
    expect(grpc).toMatchObject({ status: grpcStatus, code, message: 'A sentence.', retryAfterSeconds: 3 });
  });

  it('sends at most 64 KiB over HTTP and 320 KiB over gRPC', async () => {
    const { apiKey } = issued.issue();
    const http = await callHttp({
      method: 'post',
      path: RESERVATIONS,
      body: { ...reserveBody, run_id: 'x'.repeat(65_536) },
      apiKey,
    });
    expect(http.status).toBe(413);
    const grpc = await callGrpc('Reserve', { ...reserveRequest, runId: 'x'.repeat(327_680) }, apiKey);
    expect(grpc).toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
    expect(ports.asked).toEqual([]);
  });
});

const BATCHES = ['ReserveMany', 'SettleMany', 'ReleaseMany'] as const;

describe('a gateway that may not', () => {
  const path = `${RESERVATIONS}/rsv_1`;
  const reservationId = 'rsv_1';

  it('is 401 and UNAUTHENTICATED without a key, and with one that is unknown or revoked', async () => {
    const { apiKey, sha256 } = issued.issue();
    issued.revoke(sha256);
    for (const key of [undefined, 'ws_live_x.y', apiKey]) {
      const http = await callHttp({ method: 'get', path, ...(key !== undefined && { apiKey: key }) });
      expect(http).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      const grpc = await callGrpc('GetReservation', { reservationId }, key);
      expect(grpc).toMatchObject({ status: 'UNAUTHENTICATED', code: 'unauthenticated' });
    }
    expect(ports.asked).toEqual([]);
  });

  it('is 403 and PERMISSION_DENIED with a read_only key, for every call', async () => {
    const { apiKey } = issued.issue('read_only');
    const calls = [
      callHttp({ method: 'post', path: RESERVATIONS, body: reserveBody, apiKey }),
      callHttp({ method: 'get', path, apiKey }),
      callHttp({ method: 'post', path: `${path}:settle`, body: settleBody, apiKey }),
      callHttp({ method: 'post', path: `${path}:release`, apiKey }),
      callHttp({ method: 'post', path: `${path}:extend`, body: { ttl_seconds: 10 }, apiKey }),
    ];
    for (const { status, body } of await Promise.all(calls)) {
      expect([status, body['code']]).toEqual([403, 'forbidden']);
    }
    for (const rpc of ['Reserve', 'GetReservation', 'Settle', 'Release', 'Extend', ...BATCHES] as const) {
      expect(await callGrpc(rpc, {}, apiKey)).toMatchObject({ status: 'PERMISSION_DENIED', code: 'forbidden' });
    }
    expect(ports.asked).toEqual([]);
  });

  it('is 401 as a person with a session, whatever the role', async () => {
    expect(await callHttp({ method: 'get', path, role: 'owner' })).toMatchObject({ status: 401 });
  });

  it('pays for its settlements from a lease: for 25 as for one call, valid or not, over both transports', async () => {
    const { apiKey } = issued.issue();
    const settlement = { settlement_id: 's', run_id: 'r', amount_micros: 1 };
    const settlements = Array.from({ length: CALLS_PER_SECOND * 10 + 1 }, () => settlement);
    const all = { method: 'post', path: '/api/v1/leases/lse_1:settle', apiKey } as const;
    expect((await callHttp({ ...all, body: { settlements } })).status).toBe(200);
    expect(
      (await callHttp({ ...all, body: { settlements: settlements.fill({ ...settlement, run_id: '' }) } })).status,
    ).toBe(400);
    const refused = { status: 429, body: { code: 'rate_limited' }, retryAfter: '1' };
    const one = { ...all, body: { settlements: [settlement] } };
    for (let left = CALLS_PER_SECOND - 18; left > 0; left -= 1) expect((await callHttp(one)).status).toBe(200);
    expect(await callHttp(one)).toMatchObject(refused);

    clock.now += 1_000;
    const message = { settlementId: 's', runId: 'r', amountMicros: 1 };
    const rpc = (count: number) =>
      callGrpc('SettleLease', { leaseId: 'lse_1', settlements: Array.from({ length: count }, () => message) }, apiKey);
    expect(await rpc(CALLS_PER_SECOND * 25)).toHaveProperty('lease');
    expect(await rpc(1)).toMatchObject({ status: 'RESOURCE_EXHAUSTED', code: 'rate_limited' });
  });

  it('is 429 and RESOURCE_EXHAUSTED above the quota of its workspace, which both transports share', async () => {
    const { apiKey } = issued.issue();
    const counted = async () => (await metrics.registry.getSingleMetric('refused_total')!.get()).values[0]!.value;
    const before = await counted();
    for (let i = 0; i < CALLS_PER_SECOND / 2; i += 1) {
      expect((await callHttp({ method: 'get', path, apiKey })).status).toBe(200);
      expect(await callGrpc('GetReservation', { reservationId }, apiKey)).toHaveProperty('reservation');
    }
    const http = await callHttp({ method: 'get', path, apiKey });
    expect(http).toMatchObject({ status: 429, body: { code: 'rate_limited' }, retryAfter: '1' });
    expect(http.body['error']).toContain(`${CALLS_PER_SECOND} calls a second`);
    const grpc = await callGrpc('GetReservation', { reservationId }, apiKey);
    expect(grpc).toMatchObject({ status: 'RESOURCE_EXHAUSTED', code: 'rate_limited', retryAfterSeconds: 1 });
    expect(await counted()).toBe(before + 2);
    expect((await callHttp({ method: 'get', path, apiKey: issued.issue().apiKey })).status).toBe(200);

    // Holds must be released even if another agent of the workspace asks in a loop.
    for (let i = 0; i < CALLS_PER_SECOND / 2; i += 1) {
      expect((await callHttp({ method: 'post', path: `${path}:settle`, body: settleBody, apiKey })).status).toBe(200);
      expect(await callGrpc('Release', { reservationId }, apiKey)).toHaveProperty('reservation');
    }
    expect(await callHttp({ method: 'post', path: `${path}:release`, apiKey })).toMatchObject({ status: 429 });
  });

  it('is 503 and UNAVAILABLE while keys cannot be checked', async () => {
    const { apiKey } = issued.issue();
    await peers.stop();
    const http = await callHttp({ method: 'get', path, apiKey });
    expect(http).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    const grpc = await callGrpc('GetReservation', { reservationId }, apiKey);
    expect(grpc).toMatchObject({ status: 'UNAVAILABLE', code: 'service_unavailable' });
    await peers.start();
  });
});

describe('a person with a session', () => {
  const tenantId = provenTenantId('ws_of-a-person');

  it('sees the limits as a member', async () => {
    expect(await callHttp({ method: 'get', path: LIMITS, role: 'member', tenantId })).toMatchObject({
      status: 200,
      body: {
        day: { start: '2026-11-21T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z', timezone: 'UTC' },
        items: [
          {
            ...rowBody,
            open_reservations: 3,
            open_leases: 2,
            overspend_micros: { above_hold: 4, late: 5, unreserved: 6 },
            released: 7,
            expired: 8,
            filled_percent: 40,
            pace_end_micros: 90,
          },
        ],
      },
    });
    await callHttp({ method: 'get', path: `${LIMITS}?agent_id=agent-1&plan_key=pro`, role: 'member', tenantId });
    expect(ports.asked).toEqual([
      ['view', tenantId, {}],
      ['view', tenantId, { agentId: 'agent-1', planKey: 'pro' }],
    ]);
  });

  it('sees the reservations as an admin, page by page', async () => {
    const path = `${LIMITS}/reservations`;
    expect(await callHttp({ method: 'get', path, role: 'admin', tenantId })).toMatchObject({
      status: 200,
      body: { items: [heldBody, settledBody], next_cursor: 'next' },
    });
    const query = 'state=expired&agent_id=a&run_id=r&limit=7&cursor=next';
    await callHttp({ method: 'get', path: `${path}?${query}`, role: 'admin', tenantId });
    expect(ports.asked).toEqual([
      ['list', tenantId, {}, { limit: 50 }],
      ['list', tenantId, { state: 'expired', agentId: 'a', runId: 'r' }, { limit: 7, cursor: 'next' }],
    ]);
    for (const wrong of ['limit=0', 'limit=101', 'state=open', `cursor=${'x'.repeat(1025)}`]) {
      expect((await callHttp({ method: 'get', path: `${path}?${wrong}`, role: 'admin', tenantId })).status).toBe(400);
    }
  });

  it('frees a hold that hangs as an owner', async () => {
    const path = `${LIMITS}/reservations/rsv_1:release`;
    expect(await callHttp({ method: 'post', path, role: 'owner', tenantId })).toMatchObject({
      status: 200,
      body: settledBody,
    });
    const cause = { action: 'reservation.release', actor: { type: 'user', id: 'user_1', name: 'user_1' } };
    expect(ports.asked).toEqual([['release', tenantId, 'rsv_1', expect.objectContaining(cause)]]);
  });

  it('is 403 below these roles, and 401 with a workspace key', async () => {
    const list = `${LIMITS}/reservations`;
    const release = `${list}/rsv_1:release`;
    const { apiKey } = issued.issue('admin');
    const statuses = [
      await callHttp({ method: 'get', path: list, role: 'member', tenantId }),
      await callHttp({ method: 'post', path: release, role: 'admin', tenantId }),
      await callHttp({ method: 'get', path: LIMITS, apiKey }),
      await callHttp({ method: 'get', path: list, apiKey }),
      await callHttp({ method: 'post', path: release, apiKey }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 401, 401, 401]);
    expect(ports.asked).toEqual([]);
  });
});
