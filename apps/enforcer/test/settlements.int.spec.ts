import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useEnforcer } from './enforcer.stack.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const stack = useEnforcer(useMongo());
const { budgets, clock, log, limitedTo } = stack;
const NOTHING = { above_hold: 0, late: 0, unreserved: 0 };

describe('spend that comes as an event', () => {
  it('without a reservation is posted to its workspace, agent and plan, and takes from what is left', async () => {
    const workspace = limitedTo(1000);
    budgets.setAgent(workspace.tenantId, 'planner', 800);
    budgets.setAgent(workspace.tenantId, 'coder', 800);
    budgets.setPlan(workspace.tenantId, 'pro', 900);
    await workspace.spend({ amount_micros: 700, plan_key: 'pro' });
    await stack.posted();
    const unreserved = { spent_micros: 700, overspend_micros: { ...NOTHING, unreserved: 700 } };
    const { items } = await workspace.limits();
    expect(items.map(({ scope, scope_id }) => `${scope} ${scope_id}`)).toEqual([
      `workspace ${workspace.tenantId}`,
      'agent coder',
      'agent planner',
      'plan pro',
    ]);
    expect(items).toMatchObject([unreserved, { spent_micros: 0 }, unreserved, unreserved]);
    expect((await workspace.reserve(101)).body).toMatchObject({ decision: 'denied', denial: { scope: 'agent' } });
    expect((await workspace.reserve(100)).status).toBe(201);
  });

  it('with a reservation settles it, below and above its hold', async () => {
    const workspace = limitedTo(1000);
    for (const [cost, above] of [
      [60, 0],
      [130, 30],
    ] as const) {
      const { id } = await workspace.granted(100);
      await workspace.spend({ amount_micros: cost, reservation_id: id, settlement_id: `stl-${cost}` });
      await stack.posted();
      const settled = { state: 'settled', settled_micros: cost, settlement_id: `stl-${cost}` };
      expect(await workspace.read(id)).toMatchObject(settled);
      expect(await workspace.limit()).toMatchObject({ held_micros: 0, overspend_micros: { above_hold: above } });
    }
    expect(await workspace.limit()).toMatchObject({
      spent_micros: 190,
      overspend_micros: { ...NOTHING, above_hold: 30 },
    });
  });

  it('with a reservation that has expired is late, and with one that is released or unknown unreserved', async () => {
    const workspace = limitedTo(1000);
    const expired = await workspace.granted({ amount_micros: 100, ttl_seconds: 10 });
    const released = await workspace.granted(100);
    await workspace.release(released.id);
    clock.now += 10_000;
    await workspace.spend({ amount_micros: 1, reservation_id: expired.id });
    await workspace.spend({ amount_micros: 20, reservation_id: released.id });
    await workspace.spend({ amount_micros: 300, reservation_id: 'rsv_none' });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 321, held_micros: 0, expired: 1, released: 1 },
      overspend_micros: { above_hold: 0, late: 1, unreserved: 320 },
    });
    expect(await workspace.read(expired.id)).toMatchObject({ state: 'settled' });
    expect(await workspace.read(released.id)).toMatchObject({ state: 'released' });
  });

  it('of a call that failed before settles its reservation in the 10 s until that is released, and not after', async () => {
    const workspace = limitedTo(1_000);
    const ids = ['call:retried', 'call:failed', 'call:again', 'call:short'];
    const asked = (id: string) => ({
      amount_micros: 100,
      request_id: id,
      ...(id === 'call:short' && { ttl_seconds: 10 }),
    });
    const [retried, failed, again, short] = await Promise.all(ids.map((id) => workspace.granted(asked(id))));
    for (const id of [...ids, 'call:unknown']) await workspace.fail(id);
    await stack.posted();
    clock.now += 9_999;
    await workspace.spend({ amount_micros: 60, request_id: 'call:retried' });
    await workspace.fail('call:again');
    await stack.posted();
    clock.now += 1;
    const states = () =>
      Promise.all([retried, failed, again, short].map(async (each) => (await workspace.read(each!.id)).state));
    await workspace.granted(1);
    expect(await states()).toEqual(['settled', 'released', 'held', 'released']);
    await workspace.fail('call:retried');
    await workspace.spend({ amount_micros: 7, request_id: 'call:failed' });
    await stack.posted();
    clock.now += 10_000;
    await workspace.granted(1);
    expect(await states()).toEqual(['settled', 'released', 'released', 'released']);
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 67, held_micros: 2, released: 3, expired: 0 },
      overspend_micros: { ...NOTHING, unreserved: 7 },
    });
  });

  it('with the request of a reservation settles it as by its id, in time and late', async () => {
    const workspace = limitedTo(1000);
    const held = await workspace.granted({ amount_micros: 100, request_id: 'call:1' });
    const expired = await workspace.granted({ amount_micros: 100, request_id: 'call:2', ttl_seconds: 10 });
    clock.now += 10_000;
    await workspace.spend({ amount_micros: 60, request_id: 'call:1', settlement_id: 'rsp:1' });
    await workspace.spend({ amount_micros: 7, request_id: 'call:2' });
    await stack.posted();
    const settled = { state: 'settled', settled_micros: 60, settlement_id: 'rsp:1' };
    expect(await workspace.read(held.id)).toMatchObject(settled);
    expect(await workspace.read(expired.id)).toMatchObject({ state: 'settled', settled_micros: 7 });
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 67, held_micros: 0, overspend_micros: { ...NOTHING, late: 7 } },
    });
  });

  it('with a request settles no reservation that is another one, of another workspace, or of 24 hours before', async () => {
    const [workspace, other] = [limitedTo(1000), limitedTo(1000)];
    const before = await workspace.granted({ amount_micros: 100, request_id: 'call:1' });
    const named = await workspace.granted(100);
    const theirs = await other.granted({ amount_micros: 100, request_id: 'call:2' });
    await workspace.spend({ amount_micros: 1, request_id: 'call:1', reservation_id: named.id });
    await workspace.spend({ amount_micros: 20, request_id: 'call:2' });
    await workspace.spend({ amount_micros: 300, request_id: 'call:none', reservation_id: 'rsv_none' });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 321, held_micros: 100, overspend_micros: { ...NOTHING, unreserved: 320 } },
    });
    expect(await workspace.read(named.id)).toMatchObject({ state: 'settled', settled_micros: 1 });
    expect(await other.read(theirs.id)).toMatchObject({ state: 'held' });
    clock.now += DAY + 1;
    await workspace.spend({ amount_micros: 4, request_id: 'call:1' });
    await stack.posted();
    expect(await workspace.read(before.id)).toMatchObject({ state: 'expired' });
    await workspace.spend({ amount_micros: 4, request_id: 'call:1' }, { ago: 1 });
    await stack.posted();
    expect(await workspace.read(before.id)).toMatchObject({ state: 'settled', settled_micros: 4 });
  });

  it('with a request frees the hold of spend that was reported without it, and counts once', async () => {
    const workspace = limitedTo(1000);
    const { id } = await workspace.granted({ amount_micros: 100, request_id: 'call:1' });
    await workspace.spend({ amount_micros: 40, settlement_id: 'rsp:1' });
    await workspace.spend({ amount_micros: 40, settlement_id: 'rsp:1', request_id: 'call:1' });
    await stack.posted();
    expect(await workspace.read(id)).toMatchObject({ state: 'settled', settled_micros: 40 });
    expect(await workspace.limit()).toMatchObject({
      ...{ spent_micros: 40, held_micros: 0, overspend_micros: { ...NOTHING, unreserved: 40 } },
    });
  });

  it('belongs to the day of its time, and of a day that is three days past to none', async () => {
    const workspace = limitedTo(1000);
    const before = await stack.counted('enforcer_spend_events_total', 'too_old');
    await workspace.spend({ amount_micros: 1 }, { ago: DAY });
    await workspace.spend({ amount_micros: 20 }, { ago: DAY / 2 });
    await workspace.spend({ amount_micros: 300 }, { ago: 4 * DAY });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 20 });
    expect(await stack.counted('enforcer_spend_events_total', 'too_old')).toBe(before + 1);
  });

  it('counts once, however often it comes', async () => {
    const workspace = limitedTo(100_000);
    const spends = Array.from({ length: 100 }, (_, i) => ({ amount_micros: i, settlement_id: `stl-${i}` }));
    await Promise.all([...spends, ...spends].map((spend) => workspace.spend(spend)));
    await stack.posted();
    await Promise.all(spends.slice(0, 10).map((spend) => workspace.spend(spend)));
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 4950, overspend_micros: { unreserved: 4950 } });
    expect(await stack.counted('enforcer_spend_events_total', 'duplicate')).toBeGreaterThanOrEqual(110);
  });
});

describe('a settlement that comes by a call and by an event', () => {
  it('counts once when the call is first, and once when the event is', async () => {
    const workspace = limitedTo(1000);
    const called = await workspace.granted(100);
    await workspace.settle(called.id, 40, 'stl-1');
    await workspace.spend({ amount_micros: 40, settlement_id: 'stl-1', reservation_id: called.id });
    const reported = await workspace.granted(100);
    await workspace.spend({ amount_micros: 40, settlement_id: 'stl-2', reservation_id: reported.id });
    await stack.posted();
    expect(await workspace.settle(reported.id, 40, 'stl-2')).toMatchObject({
      status: 200,
      body: { state: 'settled', settled_micros: 40 },
    });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 80, held_micros: 0, overspend_micros: NOTHING });
  });

  it('counts once when the event does not name the reservation, and frees the hold', async () => {
    const workspace = limitedTo(1000);
    const { id } = await workspace.granted(100);
    await workspace.spend({ amount_micros: 40, settlement_id: 'stl-1' });
    await stack.posted();
    expect((await workspace.settle(id, 40, 'stl-1')).status).toBe(200);
    const other = await workspace.granted(100);
    await workspace.settle(other.id, 7, 'stl-2');
    await workspace.spend({ amount_micros: 7, settlement_id: 'stl-2' });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 47, held_micros: 0 });
  });
});

describe('a settlement by a call', () => {
  it('is an event in the log before the answer, once', async () => {
    const workspace = limitedTo(1000);
    budgets.setPlan(workspace.tenantId, 'pro', 1000);
    const { id } = await workspace.granted({ amount_micros: 100, plan_key: 'pro', run_id: 'run-7' });
    const body = {
      ...{ settlement_id: 'stl-1', amount_micros: 40, model: 'm', provider: 'p' },
      ...{ input_tokens: 3, output_tokens: 0 },
    };
    const event = {
      source: 'tollkeeper/enforcer',
      type: 'spend.settled',
      time: new Date(clock.now).toISOString(),
      data: { ...body, run_id: 'run-7', agent_id: 'planner', plan_key: 'pro', reservation_id: id },
    };
    for (let i = 0; i < 2; i += 1) {
      expect((await workspace.settle(id, 40, 'stl-1', { body })).status).toBe(200);
      expect(workspace.events()).toMatchObject([event]);
    }
  });

  it('is 503 while the log is down, changes nothing, and counts when it is repeated later', async () => {
    const workspace = limitedTo(100);
    const { id } = await workspace.granted(100);
    for (const away of [{ down: true }, { down: false, hangs: true }]) {
      Object.assign(log, away);
      const answer = await workspace.settle(id, 40, 'stl-1', { once: true });
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      expect(Number(answer.retryAfter)).toBeGreaterThan(0);
      expect(await workspace.read(id)).toMatchObject({ state: 'held' });
      expect(await workspace.limit()).toMatchObject({ spent_micros: 0, held_micros: 100 });
    }
    log.hangs = false;
    expect((await workspace.settle(id, 40, 'stl-1')).status).toBe(200);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 40, held_micros: 0 });
    expect(workspace.events()).toHaveLength(1);
  });

  it('is counted by cause where it is beyond the hold', async () => {
    const workspace = limitedTo(1000);
    const causes = () =>
      Promise.all(
        ['above_hold', 'late', 'unreserved'].map((cause) => stack.counted('enforcer_overspend_micros_total', cause)),
      );
    const before = await causes();
    const above = await workspace.granted(100);
    await workspace.settle(above.id, 105);
    const late = await workspace.granted({ amount_micros: 100, ttl_seconds: 10 });
    clock.now += 10_000;
    await workspace.settle(late.id, 70);
    await workspace.spend({ amount_micros: 900 });
    await stack.posted();
    const after = await causes();
    expect(after.map((value, i) => value - before[i]!)).toEqual([5, 70, 900]);
  });
});

describe('a denial', () => {
  it('is an event in the log before the answer, the same when it is repeated', async () => {
    const workspace = limitedTo(100);
    budgets.setPlan(workspace.tenantId, 'pro', 50);
    await workspace.spend({ amount_micros: 30, plan_key: 'pro' });
    await stack.posted();
    const asked = { request_id: 'req-1', amount_micros: 21, plan_key: 'pro', run_id: 'run-7' };
    for (let i = 1; i <= 2; i += 1) {
      expect((await workspace.reserve(asked)).body.decision).toBe('denied');
      const blocked = workspace.events('budget.blocked');
      expect(blocked).toHaveLength(i);
      // Counts of denials are not stored, so the repeat is reported again.
      await stack.restart();
      expect(blocked.at(-1)).toMatchObject({
        source: 'tollkeeper/enforcer',
        time: new Date(clock.now).toISOString(),
        data: {
          ...{ run_id: 'run-7', agent_id: 'planner', plan_key: 'pro', scope: 'plan' },
          ...{ requested_micros: 21, spent_micros: 30, held_micros: 0, daily_budget_usd_micros: 50 },
        },
      });
      clock.now += 1000;
    }
    await workspace.reserve({ ...asked, request_id: 'req-2' });
    const other = limitedTo(0);
    await other.reserve({ ...asked, plan_key: undefined });
    const ids = [...workspace.events('budget.blocked'), ...other.events()].map(({ id }) => id);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
  });

  it('is answered while the log is down, and counted as unreported', async () => {
    const workspace = limitedTo(0);
    const unreported = () => stack.counted('enforcer_unreported_denials_total');
    for (const away of [{ down: true }, { down: false, hangs: true }]) {
      Object.assign(log, away);
      const before = await unreported();
      expect((await workspace.reserve(1)).body).toMatchObject({ decision: 'denied' });
      await eventually(async () => expect(await unreported()).toBe(before + 1));
    }
    log.hangs = false;
    const before = await stack.counted('enforcer_decisions_total', 'denied');
    await workspace.reserve(1);
    expect(workspace.events()).toHaveLength(1);
    expect(await stack.counted('enforcer_decisions_total', 'denied')).toBe(before + 1);
  });
});
