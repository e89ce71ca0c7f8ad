import { describe, expect, it } from '@jest/globals';
import { localDays } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, RESERVATIONS, useEnforcer } from './enforcer.stack.ts';

const SECOND = 1000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

const stack = useEnforcer(useMongo());
const { budgets, clock, identity, limitedTo } = stack;
const at = (time: number) => new Date(time).toISOString();

describe('a call that asks', () => {
  it('is granted what is left, to the last micro, and denied one more', async () => {
    const workspace = limitedTo(1000);
    const first = await workspace.reserve({ request_id: 'req-1', amount_micros: 400 });
    const row = { scope: 'workspace', scope_id: workspace.tenantId, daily_budget_usd_micros: 1000 };
    const resetsAt = at(clock.now + DAY / 2);
    expect(first).toMatchObject({
      status: 201,
      body: {
        decision: 'allowed',
        reservation: {
          ...{ request_id: 'req-1', agent_id: 'planner', run_id: 'run-1', plan_key: null, amount_micros: 400 },
          ...{ state: 'held', created_at: at(clock.now), expires_at: at(clock.now + 600 * SECOND) },
          ...{ settled_micros: null, settlement_id: null },
        },
        limits: [{ ...row, spent_micros: 0, held_micros: 400, remaining_micros: 600, resets_at: resetsAt }],
      },
    });
    expect((await workspace.reserve(600)).status).toBe(201);
    const denied = await workspace.reserve({ request_id: 'req-3', amount_micros: 1 });
    const numbers = { ...row, spent_micros: 0, held_micros: 1000, resets_at: resetsAt };
    expect(denied).toMatchObject({
      status: 200,
      body: {
        decision: 'denied',
        denial: { ...numbers, requested_micros: 1 },
        limits: [{ ...numbers, remaining_micros: 0 }],
      },
    });
    expect(denied.body['denial']).toMatchObject({
      message: expect.stringContaining('Settle or release open reservations, return leases'),
    });
    // The cause of the denial is gone, so the same request is now granted.
    await workspace.release((first.body['reservation'] as { id: string }).id);
    expect((await workspace.reserve({ request_id: 'req-3', amount_micros: 1 })).status).toBe(201);
  });

  it('is granted without a limit, and denied with a limit of 0', async () => {
    const free = stack.newWorkspace();
    expect(await free.reserve(Number.MAX_SAFE_INTEGER)).toMatchObject({ status: 201, body: { limits: [] } });
    for (const amount of [0, 1]) {
      expect(await limitedTo(0).reserve(amount)).toMatchObject({ status: 200, body: { decision: 'denied' } });
    }
  });

  it('has every limit that applies to it, and is denied by the one with the least remaining', async () => {
    const workspace = limitedTo(1000);
    const { tenantId } = workspace;
    budgets.setAgent(tenantId, 'planner', 500);
    budgets.setAgent(tenantId, 'coder', 1);
    budgets.setPlan(tenantId, 'pro', 300);
    const rows = async (asked: object) =>
      ((await workspace.reserve({ amount_micros: 100, ...asked })).body['limits'] as Body[]).map(
        (row) => `${row['scope']} ${row['remaining_micros']}`,
      );
    expect(await rows({ plan_key: 'pro' })).toEqual(['workspace 900', 'agent 400', 'plan 200']);
    expect(await rows({})).toEqual(['workspace 800', 'agent 300']);
    const denied = async (asked: object) =>
      ((await workspace.reserve({ amount_micros: 900, ...asked })).body['denial'] as Body)['scope'];
    expect(await denied({ plan_key: 'pro' })).toBe('plan');
    expect(await denied({})).toBe('agent');
    expect(await denied({ agent_id: 'reviewer' })).toBe('workspace');
    // The denial left the other limits unchanged.
    expect(await rows({ amount_micros: 300 })).toEqual(['workspace 500', 'agent 0']);
  });

  it('is 400 under a plan that is unknown or inactive', async () => {
    const workspace = limitedTo(1000);
    budgets.setPlan(workspace.tenantId, 'old', 300, false);
    for (const plan of ['old', 'none']) {
      const answer = await workspace.reserve({ amount_micros: 1, plan_key: plan });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path: 'plan_key' }] } });
    }
  });

  it('gets the same reservation when it is repeated, also when it is ended, and after a restart', async () => {
    const workspace = limitedTo(1000);
    const asked = { request_id: 'req-1', amount_micros: 1000 };
    const { id } = await workspace.granted(asked);
    clock.now += 5 * SECOND;
    expect(await workspace.reserve(asked)).toMatchObject({
      status: 201,
      body: { reservation: { id, state: 'held' }, limits: [{ held_micros: 1000 }] },
    });
    await stack.restart();
    expect((await workspace.granted(asked)).id).toBe(id);
    await workspace.settle(id, 900, 'stl-1');
    expect(await workspace.granted(asked)).toMatchObject({ id, state: 'settled', settled_micros: 900 });
    expect(await workspace.limit()).toMatchObject({ spent_micros: 900, held_micros: 0 });
  });

  it('is 409 with the request_id of a call of more than 24 hours ago', async () => {
    const workspace = limitedTo(1000);
    const asked = { request_id: 'req-1', amount_micros: 1 };
    const { id } = await workspace.granted(asked);
    clock.now += 24 * HOUR;
    expect((await workspace.granted(asked)).id).toBe(id);
    clock.now += 1;
    expect(await workspace.reserve(asked)).toMatchObject({ status: 409, body: { code: 'request_id_reused' } });
  });

  it('gets one reservation when the same request comes many times at once', async () => {
    const workspace = limitedTo(1000);
    const asked = { request_id: 'req-1', amount_micros: 10 };
    const all = await Promise.all(Array.from({ length: 20 }, () => workspace.granted(asked)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await workspace.limit()).toMatchObject({ held_micros: 10, open_reservations: 1 });
  });

  it.each([{ amount_micros: 11 }, { agent_id: 'coder' }, { run_id: 'run-2' }, { ttl_seconds: 60 }])(
    'is 409 for a request_id that had another content: %j',
    async (other) => {
      const workspace = limitedTo(1000);
      const asked = { request_id: 'req-1', amount_micros: 10 };
      await workspace.granted(asked);
      const answer = await workspace.reserve({ ...asked, ...other });
      expect(answer).toMatchObject({ status: 409, body: { code: 'request_id_reused' } });
      // In another workspace, it is another request.
      expect((await limitedTo(1000).reserve({ ...asked, ...other })).status).toBe(201);
    },
  );

  it('changes nothing with dry_run, and learns what would happen', async () => {
    const workspace = limitedTo(100);
    const dry = (amount: number) => workspace.reserve({ request_id: 'req-1', amount_micros: amount, dry_run: true });
    expect(await dry(100)).toMatchObject({ status: 200, body: { decision: 'allowed', reservation: null } });
    expect(await dry(101)).toMatchObject({ status: 200, body: { decision: 'denied' } });
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, open_reservations: 0 });
    expect(workspace.events()).toEqual([]);
    expect((await workspace.reserve({ request_id: 'req-1', amount_micros: 100 })).status).toBe(201);
  });

  it('registers its agent when it is granted', async () => {
    const workspace = stack.newWorkspace();
    await workspace.granted({ agent_id: 'newcomer', amount_micros: 1 });
    await eventually(() => expect(identity.agentsOf(workspace.tenantId)).toEqual(['newcomer']));
  });

  it('is decided on a changed budget 2 s later, which takes nothing back when it is below what is held', async () => {
    const workspace = limitedTo(1000);
    const { id } = await workspace.granted(600);
    budgets.setWorkspace(workspace.tenantId, 500);
    clock.now += 2 * SECOND;
    expect(await workspace.reserve(1)).toMatchObject({
      body: { decision: 'denied', limits: [{ held_micros: 600, remaining_micros: 0 }] },
    });
    expect(await workspace.read(id)).toMatchObject({ state: 'held' });
    budgets.setWorkspace(workspace.tenantId, 601);
    clock.now += 2 * SECOND;
    expect((await workspace.reserve(1)).status).toBe(201);
    budgets.setWorkspace(workspace.tenantId, null);
    clock.now += 2 * SECOND;
    expect(await workspace.reserve(5000)).toMatchObject({ status: 201, body: { limits: [] } });
  });
});

describe('a reservation', () => {
  it('posts what its call has cost, below, at and above its hold', async () => {
    const workspace = limitedTo(1000);
    for (const [held, cost] of [
      [100, 40],
      [100, 100],
      [100, 150],
      [100, 0],
    ] as const) {
      const { id } = await workspace.granted(held);
      const settled = { id, state: 'settled', settled_micros: cost, settlement_id: `stl-${id}` };
      expect(await workspace.settle(id, cost, `stl-${id}`)).toMatchObject({ status: 200, body: settled });
      expect(await workspace.read(id)).toMatchObject(settled);
    }
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 290, held_micros: 0, remaining_micros: 710, open_reservations: 0 },
      overspend_micros: { above_hold: 50, late: 0, unreserved: 0 },
    });
  });

  it('is settled once, whoever repeats it, and not again as another one', async () => {
    const workspace = limitedTo(1000);
    const { id } = await workspace.granted(100);
    const other = await workspace.granted(100);
    await workspace.settle(id, 40, 'stl-1');
    expect(await workspace.settle(id, 40, 'stl-1')).toMatchObject({ status: 200, body: { settled_micros: 40 } });
    expect(await workspace.settle(id, 40, 'stl-2')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await workspace.settle(other.id, 40, 'stl-1')).status).toBe(409);
    expect((await workspace.release(id)).status).toBe(409);
    expect((await workspace.extend(id, 60)).status).toBe(409);
    expect(await workspace.limit()).toMatchObject({ spent_micros: 40, held_micros: 100 });
  });

  it('is released, which frees its hold and is no spend', async () => {
    const workspace = limitedTo(100);
    const { id } = await workspace.granted(100);
    for (let i = 0; i < 2; i += 1) {
      expect(await workspace.release(id)).toMatchObject({ status: 200, body: { id, state: 'released' } });
    }
    expect((await workspace.settle(id, 1)).status).toBe(409);
    expect((await workspace.extend(id, 60)).status).toBe(409);
    expect(await workspace.limit()).toMatchObject({ spent_micros: 0, held_micros: 0, released: 1, expired: 0 });
  });

  it('expires automatically, can be settled after that, and cannot be held again', async () => {
    const workspace = limitedTo(100);
    const before = await stack.counted('enforcer_expired_holds_total');
    const { id } = await workspace.granted({ amount_micros: 100, ttl_seconds: 60 });
    clock.now += 60 * SECOND - 1;
    expect(await workspace.read(id)).toMatchObject({ state: 'held' });
    clock.now += 1;
    expect(await workspace.read(id)).toMatchObject({ state: 'expired' });
    expect((await workspace.extend(id, 60)).status).toBe(409);
    expect(await workspace.release(id)).toMatchObject({ status: 200, body: { state: 'expired' } });
    const next = await workspace.granted(100);
    expect(await workspace.settle(id, 70)).toMatchObject({ status: 200, body: { state: 'settled' } });
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 70, held_micros: 100, remaining_micros: 0, expired: 1, open_reservations: 1 },
      overspend_micros: { above_hold: 0, late: 70, unreserved: 0 },
    });
    expect(await workspace.read(next.id)).toMatchObject({ state: 'held' });
    expect(await stack.counted('enforcer_expired_holds_total')).toBe(before + 1);
  });

  it('is held for longer, counted from the call on, and for 24 h at most', async () => {
    const workspace = limitedTo(100);
    const { id } = await workspace.granted({ amount_micros: 100, ttl_seconds: 60 });
    clock.now += 50 * SECOND;
    const until = at(clock.now + 120 * SECOND);
    expect(await workspace.extend(id, 120)).toMatchObject({ status: 200, body: { expires_at: until, state: 'held' } });
    clock.now += 119 * SECOND;
    expect(await workspace.read(id)).toMatchObject({ state: 'held', expires_at: until });
    for (let hours = 0; hours < 23; hours += 1) {
      expect((await workspace.extend(id, 3600)).status).toBe(200);
      clock.now += HOUR - SECOND;
    }
    expect((await workspace.extend(id, 3600)).status).toBe(409);
  });

  it('is 404 where there is none, in another workspace too', async () => {
    const { id } = await limitedTo(100).granted(10);
    const other = limitedTo(100);
    for (const unknown of [id, 'rsv_none']) {
      const answers = [
        await other.call('get', `${RESERVATIONS}/${unknown}`),
        await other.settle(unknown, 1),
        await other.release(unknown),
        await other.extend(unknown, 60),
      ];
      for (const { status, body } of answers) expect([status, body.code]).toEqual([404, 'not_found']);
    }
    expect(await other.limit()).toMatchObject({ spent_micros: 0 });
  });

  it('is the same over gRPC', async () => {
    const workspace = limitedTo(100);
    const request = { requestId: 'req-1', agentId: 'planner', runId: 'run-1', amountMicros: 100 };
    const { id } = await workspace.granted({ request_id: 'req-1', amount_micros: 100 });
    expect(await workspace.rpc('Reserve', request)).toMatchObject({ allowed: { reservation: { id } } });
    expect(await workspace.rpc('Reserve', { ...request, requestId: 'req-2' })).toMatchObject({ decision: 'denied' });
    const settlement = { reservationId: id, settlementId: 'stl-1', amountMicros: 30 };
    expect(await workspace.rpc('Settle', settlement)).toMatchObject({ reservation: { settledMicros: 30 } });
    expect(await workspace.read(id)).toMatchObject({ state: 'settled', settlement_id: 'stl-1' });
  });
});

describe('a day', () => {
  it('ends at midnight of the workspace: limits begin anew, and a settlement belongs to the day of its grant', async () => {
    const workspace = limitedTo(100);
    identity.setTimezone(workspace.tenantId, 'Asia/Tokyo');
    const midnight = clock.now + 3 * HOUR;
    clock.now = midnight - SECOND;
    const { id } = await workspace.granted(60);
    const { day } = await workspace.limits();
    expect(day).toEqual({ start: at(midnight - DAY), end: at(midnight), timezone: 'Asia/Tokyo' });

    clock.now = midnight;
    expect(await workspace.limit()).toMatchObject({ held_micros: 0, spent_micros: 0, resets_at: at(midnight + DAY) });
    const next = await workspace.granted(100);
    await workspace.settle(id, 90);
    await workspace.settle(next.id, 5);
    expect(await workspace.limit()).toMatchObject({ spent_micros: 5, overspend_micros: { above_hold: 0 } });
  });

  it('has 23 or 25 hours when the clocks change', async () => {
    const [days] = [localDays({ start: clock.now + DAY, end: clock.now + 400 * DAY }, 'Europe/Berlin')];
    const lengths = new Map(days.map((day) => [(day.end - day.start) / HOUR, day]));
    for (const hours of [23, 25]) {
      const { start, end } = lengths.get(hours)!;
      const workspace = limitedTo(100);
      identity.setTimezone(workspace.tenantId, 'Europe/Berlin');
      clock.now = start;
      await workspace.granted({ amount_micros: 100, ttl_seconds: 10 });
      expect(await workspace.limits()).toMatchObject({ day: { start: at(start), end: at(end) } });
      clock.now = end - 1;
      const { id } = await workspace.granted(100);
      expect((await workspace.reserve(1)).body.decision).toBe('denied');
      clock.now = end;
      expect((await workspace.reserve(100)).status).toBe(201);
      await workspace.settle(id, 1);
      expect(await workspace.limit()).toMatchObject({ spent_micros: 0 });
    }
  });

  it('counts a changed time zone from the next one on, without a gap or a moment twice', async () => {
    const workspace = limitedTo(100);
    await workspace.granted({ amount_micros: 100, ttl_seconds: 3600 });
    const midnight = clock.now + DAY / 2;
    identity.setTimezone(workspace.tenantId, 'America/New_York');
    clock.now += HOUR;
    expect(await workspace.limits()).toMatchObject({ day: { end: at(midnight), timezone: 'UTC' } });
    clock.now = midnight;
    const { day } = await workspace.limits();
    expect(day).toMatchObject({ start: at(midnight), timezone: 'America/New_York' });
    const [local] = localDays({ start: midnight, end: midnight + 1 }, 'America/New_York');
    expect(day['end']).toBe(at(local!.end));
  });
});
