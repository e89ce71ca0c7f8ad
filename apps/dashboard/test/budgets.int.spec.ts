import { beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_MICROS, type TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { KATHMANDU_TENANT, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const { budgets } = dashboard;

// The first request opens the connection to budgets, which on a busy machine takes longer than a page waits.
beforeAll(() =>
  eventually(async () => {
    const { body } = await dashboard.get(newTenant(), '/spend?range=today');
    expect(body).not.toHaveProperty('budget_stale');
  }),
);

/** A second before the clock of the stack: 18:34:56.789 UTC, which is past midnight in Kathmandu. */
const now = '2026-11-21T18:34:55.789Z';

/** A workspace with this daily budget that has just spent this much. */
async function spending(totalMicros: number, daily: number): Promise<TenantId> {
  const tenantId = newTenant();
  budgets.setWorkspace(tenantId, daily);
  await dashboard.report(tenantId, [settled(now, totalMicros)]);
  return tenantId;
}

describe('the budget of the workspace', () => {
  it.each([
    ['15s', 'UTC', 1],
    ['45min', 'UTC', 1],
    ['30min', 'Asia/Kathmandu', 2],
    ['today', 'UTC', 1],
    ['today', 'Asia/Kathmandu', 1],
    ['current_month', 'UTC', 21],
    ['current_month', 'Asia/Kathmandu', 22],
    // November began there with a day of 25 hours.
    ['current_month', 'America/New_York', 21],
    ['1m', 'UTC', 32],
    ['3m', 'UTC', 93],
  ])('over %s in %s counts once for each of the %d local days', async (range, zone, days) => {
    const tenantId = await spending(1234, 1000);
    const query = `range=${range}&timezone=${zone}`;
    const allowed = 1000 * days;
    const usedPct = Math.round((1234 / allowed) * 10_000) / 100;

    const spend = await dashboard.get(tenantId, `/spend?${query}`);
    const overview = await dashboard.get(tenantId, `/overview?${query}`);

    expect(spend.body.metrics).toMatchObject({ total_micros: 1234, budget_used_pct: usedPct });
    expect(overview.body).toMatchObject({
      spend: { budget_used_pct: usedPct },
      budget: { daily_budget_usd_micros: 1000, window_budget_usd_micros: allowed },
    });
    for (const { body } of [spend, overview]) expect(body).not.toHaveProperty('budget_stale');
  });

  it("counts by the days of the workspace's own time zone when none is given", async () => {
    budgets.setWorkspace(KATHMANDU_TENANT, 1000);
    const { body } = await dashboard.get(KATHMANDU_TENANT, '/overview?range=current_month');
    expect(body.budget.window_budget_usd_micros).toBe(22_000);
  });

  it('of yesterday is compared with what yesterday cost', async () => {
    const tenantId = await spending(700, 1000);
    await dashboard.report(tenantId, [settled('2026-11-20T23:59:59.999Z', 250)]);
    const { body } = await dashboard.get(tenantId, '/spend?range=yesterday&timezone=UTC');
    expect(body.metrics.budget_used_pct).toBe(25);
  });

  it('of nothing, or that is not set, is 0 percent used', async () => {
    const tenantId = await spending(700, 0);
    const ofNothing = await dashboard.get(tenantId, '/overview');
    expect(ofNothing.body).toMatchObject({
      spend: { budget_used_pct: 0 },
      budget: { daily_budget_usd_micros: 0, window_budget_usd_micros: 0 },
    });
    const unset = await dashboard.get(newTenant(), '/overview');
    expect(unset.body).toMatchObject({
      spend: { budget_used_pct: 0 },
      budget: { daily_budget_usd_micros: null, window_budget_usd_micros: null },
    });
  });

  it('is exact at the largest amount', async () => {
    const tenantId = await spending(MAX_MICROS, MAX_MICROS);
    const { body } = await dashboard.get(tenantId, '/overview?range=today');
    expect(body).toMatchObject({
      spend: { budget_used_pct: 100 },
      budget: { daily_budget_usd_micros: MAX_MICROS, window_budget_usd_micros: MAX_MICROS },
    });
  });
});

describe('the budget of an agent', () => {
  it("is what the agent's spend is compared with, whatever the workspace may spend", async () => {
    const tenantId = await spending(300, 1_000_000);
    budgets.setAgent(tenantId, 'planner', 1000);
    await dashboard.report(tenantId, [settled(now, 50, { agent_id: 'coder' })]);
    const details = async (agentId: string) =>
      (await dashboard.get(tenantId, `/top-agents/details?range=today&agent_id=${agentId}`)).body;

    expect(await details('planner')).toMatchObject({
      metrics: { total_micros: 300, budget_used_pct: 30 },
      budget: { daily_budget_usd_micros: 1000, window_budget_usd_micros: 1000 },
    });
    expect(await details('coder')).toMatchObject({
      metrics: { total_micros: 50, budget_used_pct: 0 },
      budget: { daily_budget_usd_micros: null, window_budget_usd_micros: null },
    });
  });
});

describe('a budget that is changed', () => {
  it('shows within seconds, and is not asked for at every request until then', async () => {
    const tenantId = await spending(500, 1000);
    const usedPct = async () => (await dashboard.get(tenantId, '/spend?range=today')).body.metrics.budget_used_pct;
    const before = budgets.calls();
    const answers = await Promise.all(Array.from({ length: 20 }, usedPct));
    expect(new Set(answers)).toEqual(new Set([50]));
    expect(budgets.calls() - before).toBeLessThanOrEqual(2);

    budgets.setWorkspace(tenantId, 2000);

    await eventually(async () => expect(await usedPct()).toBe(25));
  });
});

describe('while budgets is down', () => {
  const paths = ['/spend?range=today', '/overview?range=today', '/top-agents/details?range=today&agent_id=planner'];
  const bodiesOf = async (tenantId: TenantId) => {
    const answers = await Promise.all(paths.map((path) => dashboard.get(tenantId, path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    return answers.map(({ body }) => body);
  };

  it('answers come from the last known budgets, or without any, say so, and recover automatically', async () => {
    const known = await spending(500, 1000);
    budgets.setAgent(known, 'planner', 5000);
    const fresh = await bodiesOf(known);
    const [spend, overview, details] = fresh;
    expect([spend.metrics, overview.spend]).toMatchObject([{ budget_used_pct: 50 }, { budget_used_pct: 50 }]);
    expect(details.metrics.budget_used_pct).toBe(10);
    const unknown = await spending(500, 1000);

    await budgets.stop();

    const marked = { budget_stale: true };
    await eventually(async () => expect(await bodiesOf(known)).toEqual(fresh.map((body) => ({ ...body, ...marked }))));
    const none = { daily_budget_usd_micros: null, window_budget_usd_micros: null };
    expect(await bodiesOf(unknown)).toMatchObject([
      { ...marked, metrics: { total_micros: 500, budget_used_pct: 0 } },
      { ...marked, spend: { budget_used_pct: 0 }, budget: none },
      { ...marked, metrics: { budget_used_pct: 0 }, budget: none },
    ]);
    await expect(dashboard.ready()).resolves.toBeUndefined();

    await budgets.start();

    await eventually(async () => expect(await bodiesOf(known)).toEqual(fresh));
    await eventually(async () => expect((await bodiesOf(unknown))[0].metrics.budget_used_pct).toBe(50));
  });

  it('drilldowns that show no budget are not marked', async () => {
    await budgets.stop();
    try {
      for (const path of ['/spend/series', '/top-agents', '/budget-blocked', '/guard-blocked']) {
        expect((await dashboard.get(newTenant(), path)).body).not.toHaveProperty('budget_stale');
      }
    } finally {
      await budgets.start();
    }
  });
});
