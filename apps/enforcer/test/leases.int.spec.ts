import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body } from './enforcer.stack.ts';
import { cost, LEASES, LEASES_OF_PEOPLE, useLeases } from './leases.stack.ts';

const SECOND = 1000;
const HOUR = 3_600 * SECOND;

const stack = useLeases(useMongo(), { replicas: 2 });
const { budgets, clock, identity, log } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;
const at = (time: number) => new Date(time).toISOString();
const lastLimit = async (workspace: Workspace) => workspace.limit({ replica: 1 });
const outcomes = ({ body }: { body: Body }) => (body['results'] as Body[]).map(({ outcome }) => outcome);

describe('a lease', () => {
  it('is what was wished for where much is left, and is held like a reservation', async () => {
    const workspace = stack.newWorkspace(10_000);
    const answer = await workspace.lease({ request_id: 'lease-1', amount_micros: 1_000, min_micros: 10 });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        decision: 'allowed',
        lease: {
          ...{ request_id: 'lease-1', agent_id: 'planner', plan_key: null, amount_micros: 1_000, settled_micros: 0 },
          ...{ left_micros: 1_000, state: 'open', created_at: at(clock.now), expires_at: at(clock.now + 60 * SECOND) },
          expires_in_ms: 60 * SECOND,
        },
        limits: [{ held_micros: 1_000, remaining_micros: 9_000 }],
      },
    });
    expect(await lastLimit(workspace)).toMatchObject({ held_micros: 1_000, open_leases: 1, open_reservations: 0 });
    expect(await workspace.reserve(9_001)).toMatchObject({ status: 200, body: { decision: 'denied' } });
    await eventually(() => expect(identity.agentsOf(workspace.tenantId)).toContain('planner'));
  });

  it('shrinks with what is left and with each further lease, down to the call at hand, and is then denied', async () => {
    const workspace = stack.newWorkspace(1_000);
    const wish = (minMicros = 40) => workspace.lease({ amount_micros: 1_000, min_micros: minMicros });
    const amounts: unknown[] = [];
    for (let nth = 0; nth < 6; nth += 1) amounts.push(((await wish()).body['lease'] as Body)['amount_micros']);
    // 1000/2, 500/4, 375/6, 313/8 and 273/10 are below 40 from the fourth on.
    expect(amounts).toEqual([500, 125, 62, 40, 40, 40]);
    const denied = await wish(194);
    expect(denied).toMatchObject({
      status: 200,
      body: { decision: 'denied', denial: { scope: 'workspace', held_micros: 807, requested_micros: 194 } },
    });
    expect(denied.body['denial']).toMatchObject({ message: expect.stringContaining('there is no room for $0.000194') });
    expect(workspace.events('budget.blocked').map(({ data }) => data)).toMatchObject([
      { agent_id: 'planner', requested_micros: 194, held_micros: 807 },
    ]);
    expect((await wish(193)).status).toBe(201);
  });

  it('is the same for a repeated request, on each replica and after a restart, and 409 with other content', async () => {
    const workspace = stack.newWorkspace(1_000);
    const asked = { request_id: 'lease-1', min_micros: 5 };
    const { id } = await workspace.leased(300, asked);
    const all = await Promise.all([0, 1, 0, 1].map((replica) => workspace.leased(300, asked, { replica })));
    expect(new Set(all.map((lease) => lease.id))).toEqual(new Set([id]));
    await stack.restart();
    expect((await workspace.leased(300, asked)).id).toBe(id);
    for (const other of [{ amount_micros: 301 }, { min_micros: 6 }, { agent_id: 'coder' }, { ttl_seconds: 10 }]) {
      const answer = await workspace.lease({ amount_micros: 300, ...asked, ...other });
      expect(answer).toMatchObject({ status: 409, body: { code: 'request_id_reused' } });
    }
    // A reservation may have the same request_id.
    expect((await workspace.reserve({ ...asked, amount_micros: 1, min_micros: undefined })).status).toBe(201);
    expect(await lastLimit(workspace)).toMatchObject({ held_micros: 301, open_leases: 1, open_reservations: 1 });
  });

  it('is 400 with a plan that is unknown, and with less than the call at hand needs', async () => {
    const workspace = stack.newWorkspace(1_000);
    const wrong = [
      { plan_key: 'none', path: 'plan_key' },
      { min_micros: 101, path: 'min_micros' },
      { ttl_seconds: 601, path: 'ttl_seconds' },
    ];
    for (const { path, ...asked } of wrong) {
      const answer = await workspace.lease({ amount_micros: 100, ...asked });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } });
    }
  });

  it('ends with its day, and with the first budget period in which it counts', async () => {
    const workspace = stack.newWorkspace();
    clock.now += 12 * HOUR - 20 * SECOND;
    expect(await workspace.leased(100)).toMatchObject({ expires_in_ms: 20 * SECOND });
    const hourly = stack.newWorkspace();
    budgets.setBudgets(hourly.tenantId, { id: 'bud_hour', period: { kind: 'hour' }, limitMicros: 500 });
    clock.now -= HOUR - 10 * SECOND;
    expect(await hourly.leased(100)).toMatchObject({ expires_in_ms: 10 * SECOND });
  });
});

describe('settlements from a lease', () => {
  it('are posted once each, with their events in the log before the answer', async () => {
    const workspace = stack.newWorkspace(1_000, { env: 'prod' });
    identity.setLabels(workspace.tenantId, 'planner', { team: 'growth' });
    const { id } = await workspace.leased(300, { model: 'large-1', labels: { user: 'zoe' } });
    const occurred = at(clock.now + 2 * SECOND);
    clock.now += 5 * SECOND;
    const first = { ...cost(50, 'stl-1'), occurred_at: occurred, input_tokens: 7 };
    const answer = await workspace.settleFrom(id, [first, cost(30, 'stl-2'), cost(9, 'stl-1')]);
    expect(outcomes(answer)).toEqual(['settled', 'settled', 'settled']);
    expect((answer.body['results'] as Body[])[2]).toMatchObject({ amount_micros: 50 });
    expect(answer.body['lease']).toMatchObject({ settled_micros: 80, left_micros: 220, amount_micros: 300 });
    const events = workspace.events('spend.settled');
    const labels = { env: 'prod', team: 'growth', user: 'zoe' };
    expect(events.slice(0, 2)).toMatchObject([
      {
        time: occurred,
        data: { settlement_id: 'stl-1', reservation_id: id, lease_id: id, model: 'large-1', labels, input_tokens: 7 },
      },
      { time: at(clock.now), data: { settlement_id: 'stl-2', amount_micros: 30 } },
    ]);
    const again = await workspace.settleFrom(id, [cost(51, 'stl-1'), cost(1, 'stl-3')], { replica: 1 });
    expect(outcomes(again)).toEqual(['settled', 'settled']);
    expect((again.body['results'] as Body[])[0]).toMatchObject({ amount_micros: 50 });
    await stack.posted();
    expect(await lastLimit(workspace)).toMatchObject({ spent_micros: 81, held_micros: 219 });
  });

  it('beyond the lease are above_hold, and after its end late; no other amount is counted', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(100);
    const over = await workspace.settleFrom(id, [cost(70), cost(45)]);
    expect(over.body['lease']).toMatchObject({ settled_micros: 115, left_micros: 0, state: 'open' });
    clock.now += 60 * SECOND;
    const late = await workspace.settleFrom(id, [cost(20)]);
    expect(outcomes(late)).toEqual(['late']);
    expect(late.body['lease']).toMatchObject({ state: 'expired', settled_micros: 115, left_micros: 0 });
    await stack.posted();
    expect(await lastLimit(workspace)).toMatchObject({
      ...{ spent_micros: 135, held_micros: 0, open_leases: 0, expired: 0 },
      overspend_micros: { above_hold: 15, late: 20, unreserved: 0 },
    });
  });

  it('count once whether they come by a call, by an event with lease_id, or by both', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(300);
    await workspace.spend({ settlement_id: 'stl-1', amount_micros: 40, lease_id: id });
    await stack.posted();
    expect(await workspace.readLease(id)).toMatchObject({ settled_micros: 40, left_micros: 260 });
    await workspace.spend({ settlement_id: 'stl-0', amount_micros: 6 });
    await stack.posted();
    const answer = await workspace.settleFrom(id, [cost(40, 'stl-1'), cost(5, 'stl-2'), cost(6, 'stl-0')]);
    expect(outcomes(answer)).toEqual(['settled', 'settled', 'unreserved']);
    await workspace.spend({ settlement_id: 'stl-2', amount_micros: 5, lease_id: id });
    await workspace.giveBack(id);
    await workspace.spend({ settlement_id: 'stl-3', amount_micros: 7, lease_id: id });
    await stack.posted();
    expect(await lastLimit(workspace)).toMatchObject({
      ...{ spent_micros: 58, held_micros: 0 },
      overspend_micros: { above_hold: 0, late: 7, unreserved: 6 },
    });
  });

  it('count for the lease also if the dashboard has their events before the enforcer has read them', async () => {
    const workspace = stack.newWorkspace();
    const { tenantId } = workspace;
    const { id } = await workspace.leased(100);
    const time = at(clock.now);
    const data = { settlement_id: 'stl-1', run_id: 'run-1', agent_id: 'planner', amount_micros: 60, lease_id: id };
    const event = { specversion: '1.0', id: 'e-1', source: 'gateway', type: 'spend.settled', time, data } as const;
    stack.dashboard.add({ tenantId, receivedAt: time, event });
    budgets.setBudgets(tenantId, { id: 'bud_month', period: { kind: 'month', startDay: 1 }, limitMicros: 1_000 });
    clock.now += 2 * SECOND;
    await eventually(async () => {
      const { items } = await workspace.limits('?budget_id=bud_month');
      expect(items).toMatchObject([{ state: 'exact', spent_micros: 60, held_micros: 40, open_leases: 1 }]);
    });
    expect(await workspace.readLease(id)).toMatchObject({ settled_micros: 60, left_micros: 40 });
  });

  it('under the id of another lease or of a reservation count nothing, and hide no other settlement', async () => {
    const workspace = stack.newWorkspace(1_000);
    const [one, other] = [await workspace.leased(100), await workspace.leased(100)];
    await workspace.settleFrom(one.id, [cost(10, 'stl-1')]);
    await workspace.settle((await workspace.granted(20)).id, 20, 'stl-2');
    const mixed = await workspace.settleFrom(other.id, [cost(10, 'stl-1'), cost(20, 'stl-2'), cost(3, 'stl-3')]);
    expect(outcomes(mixed)).toEqual(['conflict', 'conflict', 'settled']);
    expect(await workspace.settle((await workspace.granted(5)).id, 5, 'stl-3')).toMatchObject({ status: 409 });
    expect(await lastLimit(workspace)).toMatchObject({ spent_micros: 33 });
  });

  it('are 503 while the log is down, and count once when they are repeated', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(100);
    log.down = true;
    const settlements = [cost(10, 'stl-1'), cost(20, 'stl-2')];
    expect(await workspace.settleFrom(id, settlements, { once: true })).toMatchObject({ status: 503, retryAfter: '1' });
    expect(await workspace.readLease(id)).toMatchObject({ settled_micros: 0 });
    log.down = false;
    await Promise.all([0, 1].map((replica) => workspace.settleFrom(id, settlements, { replica })));
    await stack.posted();
    expect(await workspace.readLease(id)).toMatchObject({ settled_micros: 30, left_micros: 70 });
  });

  it('reach thresholds, and come a thousand at a time', async () => {
    const workspace = stack.newWorkspace(2_000);
    const { id } = await workspace.leased(1_000);
    const full = Array.from({ length: 1_000 }, (_, nth) => cost(1, `stl-${nth}`));
    const answer = await workspace.settleFrom(id, full);
    expect(new Set(outcomes(answer))).toEqual(new Set(['settled']));
    await stack.posted();
    await eventually(() => {
      if (workspace.events('budget.threshold_reached').length === 0) clock.now += 2 * SECOND;
      expect(workspace.events('budget.threshold_reached').map(({ data }) => data)).toContainEqual(
        expect.objectContaining({ percent: 50, spent_micros: 1_000 }),
      );
    });
    expect((await workspace.settleFrom(id, [...full, cost(1)])).status).toBe(400);
    expect((await workspace.settleFrom(id, [])).status).toBe(400);
  });
});

describe('the end of a lease', () => {
  it('frees what is left, once, when its gateway returns it', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(400);
    await workspace.settleFrom(id, [cost(100)]);
    const all = await Promise.all([0, 1, 0].map((replica) => workspace.giveBack(id, { replica })));
    for (const { status, body } of all) expect({ status, ...body }).toMatchObject({ status: 200, state: 'returned' });
    expect(await lastLimit(workspace)).toMatchObject({ spent_micros: 100, held_micros: 0, released: 0, expired: 0 });
    expect(await workspace.readLease(id, { replica: 1 })).toMatchObject({ settled_micros: 100, left_micros: 0 });
  });

  it('comes after its time without a request, on every replica', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(400, { ttl_seconds: 10 });
    await lastLimit(workspace);
    clock.now += 10 * SECOND;
    expect(await workspace.readLease(id, { replica: 1 })).toMatchObject({ state: 'expired', expires_in_ms: 0 });
    expect((await workspace.reserve(1_000)).status).toBe(201);
  });

  it('can be brought about by owners, who see leases, and is in the audit log', async () => {
    const workspace = stack.newWorkspace(1_000);
    const [first, second] = [await workspace.leased(100), await workspace.leased(50)];
    const list = (query = '', role: 'admin' | 'member' = 'admin') =>
      workspace.call('get', `${LEASES_OF_PEOPLE}${query}`, { role, replica: 1 });
    const ids = ({ body }: { body: Body }) => (body['items'] as Body[]).map(({ id }) => id);
    expect(ids(await list())).toEqual([second.id, first.id]);
    expect(ids(await list('?limit=1'))).toEqual([second.id]);
    expect(ids(await list('?state=open')).toSorted()).toEqual([first.id, second.id].toSorted());
    const end = (id: string, role: 'owner' | 'admin' = 'owner') =>
      workspace.call('post', `${LEASES_OF_PEOPLE}/${id}:return`, { role });
    expect((await end(first.id, 'admin')).status).toBe(403);
    expect((await list('', 'member')).status).toBe(403);
    for (let times = 0; times < 2; times += 1) expect((await end(first.id)).body).toMatchObject({ state: 'returned' });
    expect((await end('lse_unknown')).status).toBe(404);
    expect(ids(await list('?state=open'))).toEqual([second.id]);
    expect(ids(await list('?state=returned&agent_id=planner'))).toEqual([first.id]);
    expect(await workspace.audited(1)).toMatchObject([
      {
        ...{ action: 'lease.return', target: { type: 'lease', id: first.id, name: 'planner' } },
        changes: [
          { field: 'state', from: 'open', to: 'returned' },
          { field: 'left_micros', from: 100, to: 0 },
        ],
      },
    ]);
    // Its gateway learns of it, and what it has spent is counted.
    expect(outcomes(await workspace.settleFrom(first.id, [cost(5)]))).toEqual(['late']);
  });
});

it('shows the keys and the people of other workspaces nothing of a lease', async () => {
  const [workspace, other] = [stack.newWorkspace(1_000), stack.newWorkspace(1_000)];
  const { id } = await workspace.leased(100);
  expect((await other.call('get', `${LEASES}/${id}`)).status).toBe(404);
  expect((await other.settleFrom(id, [cost(5)])).status).toBe(404);
  expect((await other.renew(id, 500)).status).toBe(404);
  expect((await other.giveBack(id)).status).toBe(404);
  expect((await other.call('post', `${LEASES_OF_PEOPLE}/${id}:return`, { role: 'owner' })).status).toBe(404);
  const page = await other.call('get', LEASES_OF_PEOPLE, { role: 'admin' });
  expect(page.body).toMatchObject({ items: [] });
  for (const rpc of ['GetLease', 'ReturnLease'] as const) {
    expect(await other.rpc(rpc, { leaseId: id })).toMatchObject({ status: 'NOT_FOUND' });
  }
  // An event that names it settles nothing of it.
  await other.spend({ amount_micros: 9, lease_id: id });
  await stack.posted();
  expect(await workspace.readLease(id)).toMatchObject({ settled_micros: 0, left_micros: 100, state: 'open' });
  expect(await lastLimit(other)).toMatchObject({ spent_micros: 9, overspend_micros: { unreserved: 9 } });
});

it('works the same over gRPC, where a key that may only read is refused', async () => {
  const workspace = stack.newWorkspace(1_000);
  const asked = { requestId: 'lease-1', agentId: 'planner', amountMicros: 300, minMicros: 10 };
  const granted = await workspace.rpc('GrantLease', asked);
  const { id } = granted['allowed'] as { id: string };
  expect(granted).toMatchObject({
    decision: 'allowed',
    allowed: { state: 'LEASE_STATE_OPEN', amountMicros: 300, leftMicros: 300, expiresInMs: 60_000 },
    limits: [{ heldMicros: 300 }],
  });
  const settlement = { settlementId: 'stl-1', runId: 'run-1', amountMicros: 40, occurredAt: { seconds: 1, nanos: 0 } };
  const settled = await workspace.rpc('SettleLease', { leaseId: id, settlements: [settlement, settlement] }, 1);
  expect(settled).toMatchObject({
    lease: { settledMicros: 40, leftMicros: 260 },
    results: [
      { settlementId: 'stl-1', outcome: 'LEASE_SETTLEMENT_OUTCOME_SETTLED', amountMicros: 40 },
      { settlementId: 'stl-1', outcome: 'LEASE_SETTLEMENT_OUTCOME_SETTLED', amountMicros: 40 },
    ],
  });
  // A time before the lease is moved into it.
  expect(workspace.events('spend.settled')[0]).toMatchObject({ time: at(clock.now) });
  const renewal = { leaseId: id, requestId: 'renewal-1', amountMicros: 400, ttlSeconds: 600 };
  expect(await workspace.rpc('RenewLease', renewal)).toMatchObject({
    lease: { amountMicros: 400, expiresInMs: 600_000 },
  });
  expect(await workspace.rpc('GetLease', { leaseId: id })).toEqual(await workspace.rpc('RenewLease', renewal));
  const returned = { lease: { state: 'LEASE_STATE_RETURNED', leftMicros: 0, settledMicros: 40 } };
  expect(await workspace.rpc('ReturnLease', { leaseId: id })).toMatchObject(returned);
  expect(await workspace.rpc('GrantLease', { ...asked, minMicros: 301 })).toMatchObject({
    ...{ status: 'INVALID_ARGUMENT', details: [{ path: 'min_micros' }] },
  });
  const denied = await workspace.rpc('GrantLease', {
    ...asked,
    requestId: 'l-2',
    minMicros: 2_000,
    amountMicros: 2_000,
  });
  expect(denied).toMatchObject({ decision: 'denied', denied: { requestedMicros: 2_000 } });
  const { apiKey } = stack.keys.issue('read_only');
  expect(await workspace.lease({ amount_micros: 5 }, { apiKey })).toMatchObject({ status: 403 });
});

it('counts open leases, and what lies unused in them, in the metrics of each replica', async () => {
  const before = [await stack.counted('enforcer_open_leases'), await stack.counted('enforcer_lease_unused_micros')];
  const workspace = stack.newWorkspace();
  const { id } = await workspace.leased(500);
  await workspace.settleFrom(id, [cost(100)]);
  const after = [await stack.counted('enforcer_open_leases'), await stack.counted('enforcer_lease_unused_micros')];
  expect(after.map((value, index) => value - before[index]!)).toEqual([1, 400]);
});
