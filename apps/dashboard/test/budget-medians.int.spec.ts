import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { KATHMANDU_TENANT, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const medians = async (tenantId: ReturnType<typeof newTenant>) => {
  const { status, body } = await dashboard.get(tenantId, '/budget-medians');
  expect(status).toBe(200);
  return body;
};

/** The clock is at 2026-11-21T18:34:56.789Z; noon of the days before. */
const daysAgo = (days: number) => new Date(Date.UTC(2026, 10, 21 - days, 12)).toISOString();
const growth = { labels: { team: 'growth' } };

describe('/budget-medians', () => {
  it('has what each budget would have counted on the median of the last 14 whole days', async () => {
    const tenantId = newTenant('team');
    dashboard.budgets.setWorkspace(tenantId, 1_000);
    dashboard.budgets.setAgent(tenantId, 'planner', 100);
    dashboard.budgets.setPlans(tenantId, ['pro', 'free']);
    dashboard.budgets.setActive(tenantId, [
      { id: 'bud_claude', selector: { model: 'claude-*' } },
      { id: 'bud_each', selector: {}, each: 'agent' },
      { id: 'bud_team', selector: { labels: { team: 'growth' } } },
      { id: 'bud_env', selector: { labels: { env: 'prod' } } },
      { id: 'bud_key', selector: { key: 'a'.repeat(16) } },
    ]);
    const whole = Array.from({ length: 14 }, (_, index) => index + 1);
    await dashboard.report(tenantId, [
      // Today and the day before the 14 count in no median.
      settled(daysAgo(0), 1_000_000, { model: 'claude-opus' }),
      settled(daysAgo(15), 1_000_000, { model: 'claude-opus' }),
      ...whole.map((days) => settled(daysAgo(days), days * 10, { model: 'claude-opus', plan_key: 'pro', ...growth })),
      ...whole.slice(0, 8).map((days) => settled(daysAgo(days), 1, { model: 'claude-haiku', agent_id: 'coder' })),
    ]);

    const { window, items } = await medians(tenantId);

    expect(window).toMatchObject({
      ...{ kind: 'custom', start: '2026-11-07T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z', timezone: 'UTC' },
    });
    // The days cost 10 to 140, those up to 80 with 1 more: the median lies between 71 and 81.
    expect(items).toEqual([
      { budget_id: 'bud_workspace', median_micros: 76 },
      { budget_id: 'bud_agent.planner', median_micros: 75 },
      { budget_id: 'bud_plan.pro', median_micros: 75 },
      { budget_id: 'bud_plan.free', median_micros: 0 },
      { budget_id: 'bud_claude', median_micros: 76 },
      {
        ...{ budget_id: 'bud_each', median_micros: null },
        values: [
          { value: 'planner', median_micros: 75 },
          { value: 'coder', median_micros: 1 },
        ],
      },
      { budget_id: 'bud_team', median_micros: 75 },
      { budget_id: 'bud_env', median_micros: null, unknown: 'label_not_tracked' },
      { budget_id: 'bud_key', median_micros: null, unknown: 'not_counted' },
    ]);
  });

  it('follows the days of the workspace, which begin at 18:15 UTC in Kathmandu', async () => {
    dashboard.budgets.setWorkspace(KATHMANDU_TENANT, 1_000);
    const at = (day: number, time: string) => new Date(`2026-11-${day}T${time}Z`).toISOString();
    const before = Array.from({ length: 7 }, (_, index) => settled(at(14 + index, '18:14:59.999'), 8));
    await dashboard.report(KATHMANDU_TENANT, [
      ...before,
      settled(at(21, '18:14:59.999'), 8),
      settled(at(21, '18:15:00.000'), 8),
    ]);
    const { window, items } = await medians(KATHMANDU_TENANT);
    expect([window.start, window.end]).toEqual(['2026-11-07T18:15:00.000Z', '2026-11-21T18:15:00.000Z']);
    // Eight of 14 days, the last of which ended at 18:15.
    expect(items).toEqual([{ budget_id: 'bud_workspace', median_micros: 8 }]);
  });

  it('is empty without budgets, and does not know those of other workspaces', async () => {
    expect((await medians(newTenant())).items).toEqual([]);
  });

  it('has no answer while budgets is down', async () => {
    const tenantId = newTenant();
    await dashboard.budgets.stop();
    expect(await dashboard.get(tenantId, '/budget-medians')).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
    });
  });
});
