import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createBudgetReader } from './budgets.client.ts';

const MONTH = { kind: 'month', startMonth: 1, startDay: 5, start: 0, end: 0, seconds: 0 };
const [NO_LABELS, OF_ZOE]: Record<string, string>[] = [{}, { user: 'zoe' }];
const WORKSPACE = { id: 'ws_1', slug: 'demo', name: 'Demo', timezone: 'Europe/Paris', trackedLabels: [] };
const FIELDS = { generation: 1, limitMicros: 7, denies: true, gracePercent: 0, tellAt: [] };

function reading(period = MONTH) {
  const each = { ...FIELDS, id: 'bud_1', name: 'Users', each: 'label:user', period };
  const one = { ...FIELDS, id: 'bud_2', name: 'Zoe', overrides: 'bud_1', period: { ...MONTH, kind: 'once', end: 9 } };
  return createBudgetReader(
    {
      budgets: {
        listBudgets: async () => ({
          dailyBudgetUsdMicros: 1,
          agents: [{ agentId: 'planner', dailyBudgetUsdMicros: 2 }],
          plans: [
            { planKey: 'pro', dailyBudgetUsdMicros: 3, isActive: true },
            { planKey: 'paused', dailyBudgetUsdMicros: 3, isActive: false },
          ],
        }),
        listActiveBudgets: async () => ({
          budgets: [
            { ...each, selector: { model: 'claude-*', agent: undefined, labels: NO_LABELS! } },
            { ...one, selector: { labels: OF_ZOE! } },
          ],
          ...{ pauses: [], raises: [] },
        }),
      },
      identity: { getWorkspace: async () => ({ workspace: WORKSPACE }) },
    },
    1000,
  )(provenTenantId('ws_1'));
}

it('the budgets of a workspace have its zone, their calls, and the values that other budgets are for', async () => {
  const found = await reading();
  const day = { kind: 'day', startMonth: 1, startDay: 1 };
  const daily = { period: day, timezone: 'Europe/Paris', each: null, excluded: [] };
  expect(Object.fromEntries(found)).toMatchObject({
    bud_workspace: { ...daily, limitMicros: 1, selector: {} },
    'bud_agent.planner': { ...daily, limitMicros: 2, selector: { agent: 'planner' } },
    'bud_plan.pro': { ...daily, limitMicros: 3, selector: { plan: 'pro' } },
    bud_1: { limitMicros: 7, each: 'label:user', excluded: ['zoe'], period: { kind: 'month', startDay: 5 } },
    bud_2: { each: null, period: { kind: 'once', start: 0, end: 9 }, selector: { labels: { user: 'zoe' } } },
  });
  expect([...found.keys()]).not.toContain('bud_plan.paused');
  // A store would return an undefined pattern as null, which is none.
  expect(found.get('bud_1')!.selector).toStrictEqual({ model: 'claude-*', labels: {} });
});

it('a budget with a period of a newer release is left out', async () => {
  expect([...(await reading({ ...MONTH, kind: 'decade' })).keys()]).not.toContain('bud_1');
});
