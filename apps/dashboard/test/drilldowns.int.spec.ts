import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import {
  budgetBlocked,
  guardBlocked,
  JST_TENANT,
  KATHMANDU_TENANT,
  newTenant,
  settled,
  thresholdReached,
  unmetered,
  useDashboard,
} from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());

/** The clock is at 2026-11-21T18:34:56.789Z. */
const today = '2026-11-21T12:00:00.000Z';
const yesterday = '2026-11-20T12:00:00.000Z';
const NO_PARTS = { cache_read_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0, reasoning_tokens: 0 };

describe('/spend', () => {
  it('answers the total, the number, the average and the tokens of the settlements in the window', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(today, 100, { input_tokens: 20, output_tokens: 0 }),
      settled(today, 51, { input_tokens: 5 }),
      settled(yesterday, 7, { output_tokens: 9 }),
    ]);

    const { body } = await dashboard.get(tenantId, '/spend?range=today');

    expect(body).toEqual({
      window: {
        kind: 'today',
        start: '2026-11-21T00:00:00.000Z',
        end: '2026-11-21T18:34:56.789Z',
        timezone: 'UTC',
      },
      metrics: {
        total_micros: 151,
        unique_settlements: 2,
        avg_micros_per_settlement: 75.5,
        budget_used_pct: 0,
        input_tokens: 25,
        output_tokens: 0,
        ...NO_PARTS,
      },
      unmetered: { calls: 0 },
      unpriced: { calls: 0 },
    });
  });

  it('answers the parts of the tokens, and what the spend does not include', async () => {
    const tenantId = newTenant('team');
    const tokens = { input: 176, cache_read: 1024, cache_write: 200, cache_write_1h: 100, output: 345, reasoning: 128 };
    const labels = { team: 'growth' };
    await dashboard.report(tenantId, [
      settled(today, 100, { input_tokens: 1500, output_tokens: 345, tokens, labels, flags: ['sampled'] }),
      settled(today, 51, { input_tokens: 5 }),
      settled(today, 0, { priced_by: 'none', labels }),
      settled(today, 0, { priced_by: 'none', model: 'house-1' }),
      unmetered(today, { labels }),
      unmetered(today),
      unmetered(yesterday),
    ]);

    const parts = {
      ...{ cache_read_tokens: 1024, cache_write_tokens: 200, cache_write_1h_tokens: 100, reasoning_tokens: 128 },
    };
    const sums = { input_tokens: 1505, output_tokens: 345, ...parts };
    const { body } = await dashboard.get(tenantId, '/spend?range=today');
    expect(body).toMatchObject({ metrics: sums, unmetered: { calls: 2 }, unpriced: { calls: 2 } });
    expect((await dashboard.get(tenantId, '/overview?range=today')).body).toMatchObject({
      ...{ spend: { ...sums, total_micros: 151 }, unmetered: { calls: 2 }, unpriced: { calls: 2 } },
    });
    expect((await dashboard.get(tenantId, '/spend?range=today&label.team=growth')).body).toMatchObject({
      ...{ metrics: parts, unmetered: { calls: 1 }, unpriced: { calls: 1 } },
    });
    const details = await dashboard.get(tenantId, '/top-agents/details?agent_id=planner&range=today');
    expect(details.body).toMatchObject({
      metrics: sums,
      recent: expect.arrayContaining([expect.objectContaining(parts)]),
    });
  });

  it('answers the models without a price, those with most calls first', async () => {
    const tenantId = newTenant();
    const none = { priced_by: 'none' } as const;
    await dashboard.report(tenantId, [
      settled(today, 0, { ...none, model: 'house-1', input_tokens: 5, output_tokens: 2 }),
      settled(today, 0, { ...none, model: 'house-2', input_tokens: 1 }),
      settled(today, 0, { ...none, model: 'house-2', input_tokens: 1 }),
      settled(today, 9, { model: 'house-2', priced_by: 'sender', input_tokens: 1 }),
      settled(today, 7, { model: 'gpt-4o' }),
      settled(yesterday, 0, { ...none, model: 'house-3' }),
    ]);
    expect((await dashboard.get(tenantId, '/spend/unpriced?range=today')).body).toMatchObject({
      calls: 3,
      models: [
        { model: 'house-2', calls: 2, input_tokens: 3, output_tokens: 0 },
        { model: 'house-1', calls: 1, input_tokens: 5, output_tokens: 2 },
      ],
      others: { calls: 0 },
    });
    await dashboard.report(
      tenantId,
      Array.from({ length: 60 }, (_, n) => settled(today, 0, { ...none, model: `many-${n}` })),
    );
    const { body } = await dashboard.get(tenantId, '/spend/unpriced?range=today');
    expect([body.calls, body.models.length, body.others.calls]).toEqual([63, 50, 12]);
  });

  it('answers zeros for a workspace without events', async () => {
    const { body } = await dashboard.get(newTenant(), '/spend');
    expect(body.metrics).toEqual({
      total_micros: 0,
      unique_settlements: 0,
      avg_micros_per_settlement: 0,
      budget_used_pct: 0,
      input_tokens: 0,
      output_tokens: 0,
      ...NO_PARTS,
    });
  });

  it('takes an unknown range as current_month, and the time zone of the workspace when none is given', async () => {
    const { body } = await dashboard.get(KATHMANDU_TENANT, '/spend?range=fortnight');
    expect(body.window).toEqual({
      kind: 'current_month',
      start: '2026-10-31T18:15:00.000Z',
      end: '2026-11-21T18:34:56.789Z',
      timezone: 'Asia/Kathmandu',
    });
  });

  it.each([
    ['utc', 'UTC'],
    ['europe/berlin', 'Europe/Berlin'],
  ])('names the time zone %s in its window as %s', async (given, named) => {
    const { body } = await dashboard.get(newTenant(), `/spend?range=today&timezone=${given}`);
    expect(body.window.timezone).toBe(named);
  });

  it('refuses an unknown time zone and names the parameter', async () => {
    for (const zone of ['Mars/Olympus', '%2B05:30', '', '__proto__', '%24gt', 'JST', 'IST', 'PST']) {
      const response = await dashboard.get(newTenant(), `/spend?range=today&timezone=${zone}`);
      expect(response.status).toBe(400);
      expect(response.body.details[0].path).toBe('timezone');
    }
  });

  it('reads a workspace in UTC whose time zone the calendar does not know, and warns', async () => {
    for (const range of ['today', '5min']) {
      const { status, body } = await dashboard.get(JST_TENANT, `/spend?range=${range}`);
      expect([status, body.window.timezone]).toEqual([200, 'UTC']);
    }
    const warning = { tenant_id: JST_TENANT, timezone: 'JST', msg: expect.stringContaining('is unknown; using UTC') };
    expect(dashboard.logs.lines()).toContainEqual(expect.objectContaining(warning));
  });

  it('counts a settlement once, however many events carry it', async () => {
    const tenantId = newTenant();
    const once = { settlement_id: 'once', input_tokens: 4, output_tokens: 2 };
    const first = settled(today, 10, once);
    await dashboard.report(tenantId, [first, first, settled(today, 10, once)]);
    const { body } = await dashboard.get(tenantId, '/spend');
    expect(body.metrics).toMatchObject({ total_micros: 10, unique_settlements: 1, input_tokens: 4, output_tokens: 2 });
  });

  it('never shows the spend of another workspace', async () => {
    const tenantId = newTenant();
    await dashboard.report(newTenant(), [settled(today, 10, { settlement_id: 'shared' })]);
    await dashboard.report(tenantId, [settled(today, 3, { settlement_id: 'shared' })]);
    expect((await dashboard.get(tenantId, '/spend')).body.metrics.total_micros).toBe(3);
  });

  it('answers the largest number when a sum is beyond it', async () => {
    const tenantId = newTenant();
    const largest = Number.MAX_SAFE_INTEGER;
    const tokens = { input_tokens: largest, output_tokens: largest };
    await dashboard.report(tenantId, [settled(today, largest, tokens), settled(today, largest, tokens)]);
    const { metrics } = (await dashboard.get(tenantId, '/spend')).body;
    expect(metrics).toMatchObject({ total_micros: largest, input_tokens: largest, output_tokens: largest });
  });
});

describe('/spend/series', () => {
  it('fills gaps with zeros and adds up to /spend', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-21T01:30:00.000Z', 5, { input_tokens: 70, output_tokens: 8 }),
      settled('2026-11-21T18:34:56.788Z', 6),
      settled('2026-11-21T18:34:56.789Z', 700),
      budgetBlocked('2026-11-21T01:59:59.999Z'),
    ]);

    const { body } = await dashboard.get(tenantId, '/spend/series?range=today');

    expect(body.interval).toBe('1h');
    expect(body.points).toHaveLength(19);
    expect(body.points[1]).toEqual({
      start: '2026-11-21T01:00:00.000Z',
      total_micros: 5,
      unique_settlements: 1,
      input_tokens: 70,
      output_tokens: 8,
      budget_blocked: 1,
      guard_blocked: 0,
    });
    const total = body.points.reduce((sum: number, point: { total_micros: number }) => sum + point.total_micros, 0);
    expect(total).toBe(11);
  });
});

describe('/overview', () => {
  it('counts spend, blocked calls, agents and runs, and compares with the span just before', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-21T18:30:00.000Z', 40, { run_id: 'run-a', output_tokens: 6 }),
      settled('2026-11-21T18:10:00.000Z', 7, { run_id: 'run-a', agent_id: 'coder' }),
      budgetBlocked('2026-11-21T18:29:00.000Z', { run_id: 'run-b' }),
      guardBlocked('2026-11-21T18:12:00.000Z', { run_id: 'run-c' }),
    ]);

    const { body } = await dashboard.get(tenantId, '/overview?range=15min');

    expect(body).toMatchObject({
      spend: { total_micros: 40, unique_settlements: 1, input_tokens: 0, output_tokens: 6 },
      budget: { daily_budget_usd_micros: null, window_budget_usd_micros: null },
      blocked: { budget: 1, guard: 0 },
      active_agents: 1,
      runs: 1,
      previous: { total_micros: 7, budget: 0, guard: 1 },
      comparison: { total_micros: 7, budget: 0, guard: 1 },
    });
  });

  it('compares today with yesterday up to the same time', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-20T18:34:56.788Z', 7),
      settled('2026-11-20T18:34:56.789Z', 500),
      settled('2026-11-20T23:00:00.000Z', 500),
      settled('2026-11-21T12:00:00.000Z', 40),
    ]);

    const { body } = await dashboard.get(tenantId, '/overview?range=today');

    expect(body).toMatchObject({
      spend: { total_micros: 40 },
      previous: { total_micros: 1007 },
      comparison: {
        ...{ start: '2026-11-20T00:00:00.000Z', end: '2026-11-20T18:34:56.789Z' },
        ...{ total_micros: 7, budget: 0, guard: 0 },
      },
    });
  });

  it('takes a threshold of a budget for no call and no activity of the agent that it is about', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(today, 81),
      thresholdReached('2026-11-21T12:00:01.000Z', 'planner'),
      thresholdReached('2026-11-21T12:00:02.000Z', 'quiet'),
    ]);

    const { body } = await dashboard.get(tenantId, '/overview?range=today');
    expect(body).toMatchObject({
      ...{ spend: { total_micros: 81, unique_settlements: 1 }, blocked: { budget: 0, guard: 0 } },
      ...{ active_agents: 1, runs: 1 },
    });
    const { items } = (await dashboard.get(tenantId, '/top-agents?range=today')).body;
    expect(items).toMatchObject([{ agent_id: 'planner', last_seen_at: today }]);
  });
});

describe('every drilldown', () => {
  it('is a 4xx with the common error body for rubbish, never a 5xx', async () => {
    const rubbish = ['range=today&range=1m', 'timezone[$gt]=', 'timezone=UTC&timezone=UTC', 'range=%ff', 'range=%'];
    const paths = ['/overview', '/spend', '/spend/series', '/top-agents', '/budget-blocked', '/guard-blocked'];
    for (const path of paths) {
      for (const query of rubbish) {
        const { status, body } = await dashboard.get(newTenant(), `${path}?${query}`);
        // An unknown parameter is ignored.
        expect([path, query, status]).toEqual([path, query, query.startsWith('timezone[') ? 200 : 400]);
        if (status !== 200) expect(typeof body.error).toBe('string');
      }
    }
  });

  it('names agents by their id, and answers in the last known time zone, while identity is down', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [settled(today, 1)]);
    await dashboard.get(tenantId, '/spend');

    await dashboard.stopIdentity();

    const known = await dashboard.get(tenantId, '/top-agents');
    expect(known.body.items).toMatchObject([{ agent_id: 'planner', display_name: 'planner' }]);
    const unknown = await dashboard.get(newTenant(), '/spend');
    expect([unknown.status, unknown.body.code]).toEqual([503, 'service_unavailable']);
    expect((await dashboard.get(newTenant(), '/spend?timezone=UTC')).status).toBe(200);
  });
});
