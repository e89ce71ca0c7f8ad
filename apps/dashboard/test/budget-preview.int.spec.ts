import { beforeAll, describe, expect, it } from '@jest/globals';
import type { BudgetEach } from '@tollkeeper/contracts';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { createBudgetPreviews, PREVIEW_LIMITS } from '../src/domain/budget.previews.ts';
import type { PlannedBudget } from '../src/domain/budget.replay.ts';
import { type DashboardEvent, SPEND_SETTLED } from '../src/domain/event.ts';
import { createReads } from '../src/domain/reads.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { createTallies } from '../src/domain/tallies.ts';
import { createStores } from '../src/store/stores.ts';
import { encode, newTenant, PARIS_TENANT, settled, useDashboard } from './dashboard.stack.ts';

/** The clock is at 2026-11-21T18:34:56.789Z, so the window begins on 15 November. */
const mongo = useMongo();
const dashboard = useDashboard(mongo);
const PATH = '/budget-preview';

const daily = { selector: {}, period: { kind: 'day' }, limit_micros: 100 };
const on = (day: number, time = '12:00:00.000') => `2026-11-${String(day).padStart(2, '0')}T${time}Z`;
const preview = async (tenantId: TenantId, budget: object) => (await dashboard.post(tenantId, PATH, budget)).body;

describe('POST /budget-preview', () => {
  it('counts the calls of the last seven days that the limit of each day would have stopped', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(on(14, '23:59:59.999'), 500),
      settled(on(15, '00:00:00.000'), 60),
      settled(on(15, '00:00:00.001'), 50, { model: 'opus', plan_key: 'pro', labels: { team: 'growth' } }),
      settled(on(15, '00:00:00.002'), 40),
      settled(on(16), 101, { agent_id: 'coder' }),
      settled(on(21, '18:34:56.788'), 7),
      settled(on(21, '18:34:56.789'), 1_000),
    ]);
    const body = await preview(tenantId, daily);
    expect(body).toMatchObject({
      window: { start: on(15, '00:00:00.000'), end: on(21, '18:34:56.789'), timezone: 'UTC' },
      ...{ read_until: on(21, '18:34:56.789'), is_partial: false },
      ...{ counted_from: on(15, '00:00:00.000'), misses_earlier_spend: false },
      ...{ calls: 5, total_micros: 258, exceeding_calls: 2, exceeding_micros: 151 },
      ...{ limits: 1, values: [] },
    });
    const dayOf = (day: number) => ({ start: on(day, '00:00:00.000'), end: on(day + 1, '00:00:00.000') });
    const at = { settlement_id: expect.any(String), value: null };
    expect(body.exceeding).toEqual([
      {
        ...{ ...at, occurred_at: on(16), agent_id: 'coder', display_name: 'coder', amount_micros: 101 },
        ...{ period: dayOf(16), spent_micros: 0 },
      },
      {
        ...{ ...at, occurred_at: on(15, '00:00:00.001'), agent_id: 'planner', display_name: 'The Planner' },
        ...{ amount_micros: 50, model: 'opus', plan_key: 'pro', labels: { team: 'growth' } },
        ...{ period: dayOf(15), spent_micros: 60 },
      },
    ]);
  });

  it('divides by each value, and counts what a prefix and the key select', async () => {
    const tenantId = newTenant();
    const call = (user: string | null, amount: number, more = {}) =>
      settled(on(20), amount, { model: 'claude-x', ...(user !== null && { labels: { user } }), ...more });
    const key = 'A'.repeat(16);
    const events = [
      ...[call('ann', 60), call('ann', 60), call('bob', 200), call('bob', 300), call('cid', 100)],
      ...[call(null, 900), call('dan', 900, { model: 'gpt' })],
    ];
    await dashboard.appendValues([
      ...events.map((event) => encode(tenantId, event, key)),
      encode(tenantId, call('eve', 900), 'B'.repeat(16)),
    ]);
    await dashboard.caughtUp();
    const body = await preview(tenantId, { ...daily, selector: { model: 'claude-*', key }, each: 'label:user' });
    expect(body).toMatchObject({ calls: 5, total_micros: 720, exceeding_calls: 3, exceeding_micros: 560, limits: 3 });
    expect(body.values).toEqual([
      { value: 'bob', calls: 2, total_micros: 500, exceeding_calls: 2, exceeding_micros: 500 },
      { value: 'ann', calls: 2, total_micros: 120, exceeding_calls: 1, exceeding_micros: 60 },
    ]);
    expect(body.exceeding.map(({ value }: { value: string }) => value).sort()).toEqual(['ann', 'bob', 'bob']);
  });

  it('names the agents of which each has a limit', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [settled(on(20), 500)]);
    const { values } = await preview(tenantId, { ...daily, each: 'agent' });
    expect(values).toMatchObject([{ value: 'planner', display_name: 'The Planner' }]);
  });

  it.each([
    ['monthly', { kind: 'month' }, on(1, '00:00:00.000')],
    ['rolling', { kind: 'rolling', seconds: 20 * 86_400 }, '2026-10-26T08:00:00.000Z'],
  ])(
    'counts what was spent earlier in the same %s period, none of which it would have stopped',
    async (_, period, since) => {
      const tenantId = newTenant();
      await dashboard.report(tenantId, [
        ...[settled('2026-10-25T00:00:00.000Z', 1_000), settled(on(2), 80), settled(on(2), 50)],
        ...[settled(on(15), 10), settled(on(16), 20), settled(on(17), 15)],
      ]);
      const body = await preview(tenantId, { ...daily, limit_micros: 155, period });
      expect(body).toMatchObject({ calls: 3, total_micros: 45, exceeding_calls: 1, exceeding_micros: 20 });
      expect(body).toMatchObject({ counted_from: since, misses_earlier_spend: false });
    },
  );

  const longAgo = settled('2026-01-01T00:00:00.000Z', 90, { provider: 'anthropic' });

  it('counts all of a year for agents, models and plans, although its events have been removed', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [longAgo, settled(on(20), 20)]);
    const body = await preview(tenantId, { ...daily, period: { kind: 'year' }, each: 'agent' });
    expect(body).toMatchObject({ calls: 1, exceeding_calls: 1, misses_earlier_spend: false });
    expect(body).toMatchObject({ counted_from: '2026-01-01T00:00:00.000Z' });
  });

  it('says that earlier spend is missing if it can only be read from events, which have been removed', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [longAgo, settled(on(20), 20, { provider: 'anthropic' })]);
    const body = await preview(tenantId, { ...daily, period: { kind: 'year' }, each: 'provider' });
    expect(body).toMatchObject({ calls: 1, misses_earlier_spend: true, counted_from: '2026-08-13T18:34:56.789Z' });
  });

  it('with warn spends the calls that are beyond the limit', async () => {
    const tenantId = newTenant();
    await dashboard.report(
      tenantId,
      [60, 60, 30].map((amount, index) => settled(on(20, `12:00:0${index}.000`), amount)),
    );
    expect(await preview(tenantId, daily)).toMatchObject({ exceeding_calls: 1 });
    expect(await preview(tenantId, { ...daily, action: 'warn' })).toMatchObject({ exceeding_calls: 2 });
  });

  it('has days in the time zone of the workspace', async () => {
    await dashboard.report(PARIS_TENANT, [
      ...[settled(on(14, '22:59:59.999'), 900), settled(on(14, '23:00:00.000'), 60)],
      ...[settled(on(15, '22:59:59.999'), 41), settled(on(15, '23:00:00.000'), 60)],
    ]);
    const body = await preview(PARIS_TENANT, daily);
    expect(body.window).toMatchObject({ start: on(14, '23:00:00.000'), timezone: 'Europe/Paris' });
    expect(body).toMatchObject({ calls: 3, exceeding_calls: 1, exceeding_micros: 41 });
  });

  it('counts a settlement once, and no calls of other workspaces', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    const twice = settled(on(20), 70);
    await dashboard.report(other, [settled(on(20), 5_000)]);
    await dashboard.report(tenantId, [twice, { ...twice, id: 'again' }]);
    expect(await preview(tenantId, daily)).toMatchObject({ calls: 1, total_micros: 70, exceeding_calls: 0 });
  });

  it('is empty for a workspace without calls', async () => {
    const body = await preview(newTenant(), daily);
    expect(body).toMatchObject({ calls: 0, exceeding_calls: 0, limits: 0, values: [], exceeding: [] });
  });

  it.each([
    ['selector.model', { ...daily, selector: { model: '' } }],
    ['selector.labels', { ...daily, selector: { labels: 'team' } }],
    ['each', { ...daily, each: 'team' }],
    ['period.kind', { ...daily, period: { kind: 'fortnight' } }],
    ['period.start_day', { ...daily, period: { kind: 'month', start_day: 29 } }],
    ['period.seconds', { ...daily, period: { kind: 'rolling', seconds: 3_601 } }],
    ['limit_micros', { selector: {}, period: { kind: 'day' } }],
    ['limit_micros', { ...daily, limit_micros: -1 }],
    ['action', { ...daily, action: 'stop' }],
    ['grace_percent', { ...daily, grace_percent: 101 }],
    ['overrides', { ...daily, overrides: 'other' }],
    ['name', { ...daily, name: 'Daily' }],
  ])('refuses a bad %s and names it', async (path, budget) => {
    const answer = await dashboard.post(newTenant(), PATH, budget);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });
});

const stores = createStores(mongo.connection, 8_640_000);
const now = Date.parse(on(21, '18:00:00.000'));
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const planned: PlannedBudget = {
  ...{ selector: {}, each: null, period: { kind: 'day', startMonth: 1, startDay: 1 }, limitMicros: 0 },
  ...{ gracePercent: 0, denies: true },
};

describe('the bounds of a preview', () => {
  beforeAll(() => ensureIndexes(Object.values(mongo.connection.models)));

  let sequence = 0;
  /** Stores a settlement of one micro at each of the times. */
  async function spendAt(tenantId: TenantId, times: readonly number[]): Promise<void> {
    const events = times.map((time): DashboardEvent => {
      const id = ++sequence;
      const agent = ['a1', 'a2', 'b1'][id % 3]!;
      const [model, plan] = [id % 5, id % 7].map((number) => number > 0 && number);
      const data: DashboardEvent['data'] = {
        ...{ settlement_id: `s${id}`, run_id: 'r', agent_id: agent, amount_micros: 1, provider: 'openai' },
        ...(model !== false && { model: `m${model}` }),
        ...(plan !== false && { plan_key: `p${plan}` }),
      };
      return { tenantId, source: 'gw', eventId: `e${id}`, type: SPEND_SETTLED, time, data };
    });
    await withTransaction(mongo.connection, (session) => recordEvents(stores.recorder, session, events));
  }
  const previewsOf = (limits: Partial<typeof PREVIEW_LIMITS>) =>
    createBudgetPreviews({
      ...{ reads: createReads(), reader: stores.settlements, tallies: createTallies(stores) },
      ...{ clock: () => now, retentionSeconds: 8_640_000, limits: { ...PREVIEW_LIMITS, ...limits } },
    });
  const run = (tenantId: TenantId, limits: Partial<typeof PREVIEW_LIMITS>, budget = planned) =>
    previewsOf(limits).preview(tenantId, budget, 'UTC', new AbortController().signal);
  const tenant = () => provenTenantId(newId('ws'));

  it('reads at most so many settlements, the earliest of the window, and says until when', async () => {
    const tenantId = tenant();
    const times = Array.from({ length: 30 }, (_, index) => now - 3 * DAY_MS + index * HOUR_MS);
    await spendAt(tenantId, times);
    expect(await run(tenantId, { settlements: 12, atOnce: 5 })).toMatchObject({
      ...{ readUntil: times[12], sums: { calls: 12, exceedingCalls: 12 } },
    });
    expect(await run(tenantId, { settlements: 30 })).toMatchObject({ readUntil: now, sums: { calls: 30 } });
  });

  it('ends after a page when its time is over, and says until when it read', async () => {
    const tenantId = tenant();
    const times = Array.from({ length: 120 }, (_, index) => now - 2 * DAY_MS + index);
    await spendAt(tenantId, times);
    const { sums, readUntil } = await run(tenantId, { ms: 0, atOnce: 50 });
    expect(sums.calls).toBe(50);
    expect(readUntil).toBe(times[49]);
  });

  it.each([
    ...[{ selector: {} }, { selector: { agent: 'a*' } }, { selector: { agent: 'a1' } }, { selector: { agent: 'no' } }],
    ...[{ selector: { model: 'm*' } }, { selector: { plan: 'p1' } }, { selector: {}, each: 'agent' as const }],
    ...[
      { selector: { agent: 'a*' }, each: 'agent' as const },
      { selector: {}, each: 'plan' as const },
    ],
    { selector: { model: 'm1' }, each: 'model' as const },
  ])(
    'knows earlier spend from roll-ups as from settlements for %j',
    async ({ selector, each = null }: Pick<PlannedBudget, 'selector'> & { each?: BudgetEach | null }) => {
      const tenantId = tenant();
      const times = Array.from({ length: 80 }, (_, index) => Date.parse(on(1)) + index * 6 * HOUR_MS);
      await spendAt(
        tenantId,
        times.filter((time) => time < now),
      );
      const month = { kind: 'month', startMonth: 1, startDay: 3 } as const;
      const budget: PlannedBudget = { ...planned, selector, each, period: month, limitMicros: 12 };
      // Roll-ups do not know providers.
      const fromEvents = await run(tenantId, {}, { ...budget, selector: { ...selector, provider: '*' } });
      expect(fromEvents).toMatchObject({ countedFrom: Date.parse(on(3, '00:00:00.000')), countsWholePeriod: true });
      expect(await run(tenantId, { settlements: 40 }, budget)).toEqual(fromEvents);
    },
  );

  it('leaves out the earliest days of a period if there are too many calls, never those of the window', async () => {
    const tenantId = tenant();
    const days = [1, 5, 10, 14, 16, 20].map((day) => Date.parse(on(day)));
    await spendAt(tenantId, [...days, ...days.map((time) => time + 1)]);
    const monthly: PlannedBudget = {
      ...planned,
      selector: { provider: 'openai' },
      period: { kind: 'month', startMonth: 1, startDay: 1 },
      limitMicros: 6,
    };
    const from = (day: number) => Date.parse(on(day, '00:00:00.000'));
    const outcomes = [];
    for (const settlements of [12, 11, 8, 7, 4]) {
      const { countedFrom, countsWholePeriod, readUntil, sums } = await run(tenantId, { settlements }, monthly);
      expect([readUntil, sums.calls]).toEqual([now, 4]);
      outcomes.push([countedFrom, countsWholePeriod, sums.exceedingCalls]);
    }
    expect(outcomes).toEqual([
      [from(1), true, 4],
      [from(2), false, 4],
      [from(6), false, 2],
      [from(11), false, 0],
      [from(15), false, 0],
    ]);
  });

  it('runs one preview of a workspace at a time, and none for a client that has left', async () => {
    const [tenantId, other] = [tenant(), tenant()];
    await spendAt(tenantId, [now - HOUR_MS]);
    await spendAt(other, [now - HOUR_MS]);
    const gate = Promise.withResolvers<void>();
    const begun: TenantId[] = [];
    const previews = createBudgetPreviews({
      ...{ reads: createReads(), tallies: createTallies(stores), clock: () => now, retentionSeconds: 8_640_000 },
      reader: {
        async settlementsFrom(ofTenant, ...rest) {
          begun.push(ofTenant);
          if (ofTenant === tenantId) await gate.promise;
          return stores.settlements.settlementsFrom(ofTenant, ...rest);
        },
      },
    });
    const leaving = new AbortController();
    const { signal } = new AbortController();
    const held = previews.preview(tenantId, planned, 'UTC', signal);
    const waits = previews.preview(tenantId, planned, 'UTC', signal);
    const left = previews.preview(tenantId, planned, 'UTC', leaving.signal);
    expect((await previews.preview(other, planned, 'UTC', signal)).sums.calls).toBe(1);
    expect(begun).toEqual([tenantId, other]);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    gate.resolve();
    expect((await Promise.all([held, waits])).map(({ sums }) => sums.calls)).toEqual([1, 1]);
    expect(begun).toEqual([tenantId, other, tenantId]);
  });

  it('stops between pages when its client leaves', async () => {
    const tenantId = tenant();
    await spendAt(
      tenantId,
      Array.from({ length: 60 }, (_, index) => now - 2 * DAY_MS + index),
    );
    const leaving = new AbortController();
    let pages = 0;
    const previews = createBudgetPreviews({
      ...{ reads: createReads(), tallies: createTallies(stores), clock: () => now, retentionSeconds: 8_640_000 },
      limits: { ...PREVIEW_LIMITS, atOnce: 20 },
      reader: {
        async settlementsFrom(...args) {
          pages += 1;
          const page = await stores.settlements.settlementsFrom(...args);
          leaving.abort(new Error('left'));
          return page;
        },
      },
    });
    await expect(previews.preview(tenantId, planned, 'UTC', leaving.signal)).rejects.toThrow('left');
    expect(pages).toBe(1);
  });
});
