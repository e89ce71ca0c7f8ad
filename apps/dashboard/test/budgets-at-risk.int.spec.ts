import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());
const { enforcer } = dashboard;
const OVERVIEW = '/overview?range=today&timezone=UTC';
const seconds = (time: string) => ({ seconds: Date.parse(time) / 1000, nanos: 0 });

let goOn: () => void;
async function hang(): Promise<void> {
  enforcer.state.hold = new Promise((resolve) => (goOn = resolve));
}

// The first request opens the connection to the enforcer, which on a busy machine takes longer than a page waits.
beforeAll(() =>
  eventually(async () => {
    const { body } = await dashboard.get(newTenant(), OVERVIEW);
    expect(body.budgets).toEqual([]);
  }),
);

describe('the budgets of the overview', () => {
  it('are the ten most at risk that the enforcer answers, in its order', async () => {
    const tenantId = newTenant();
    const [start, end] = ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];
    const period = { kind: 'month', start: seconds(start), end: seconds(end) };
    const raised = { raisedMicros: 40, raisedUntil: seconds('2026-11-21T20:00:00.000Z') };
    const limit = { period, limitMicros: 100, spentMicros: 90, heldMicros: 5 };
    enforcer.set(tenantId, [
      {
        limit: { ...limit, budgetId: 'bud_1', budgetName: 'Growth', value: 'zoe', isFilling: true, ...raised },
        ...{ paceEndMicros: 130, isAtRisk: true },
      },
      { limit: { ...limit, budgetId: 'bud_workspace', budgetName: 'Workspace', spentMicros: 0, heldMicros: 0 } },
    ]);
    const { body } = await dashboard.get(tenantId, OVERVIEW);
    expect(body.budgets).toEqual([
      {
        ...{ budget_id: 'bud_1', budget_name: 'Growth', value: 'zoe', period: { kind: 'month', start, end } },
        ...{ limit_micros: 100, spent_micros: 90, held_micros: 5, pace_end_micros: 130, at_risk: true },
        ...{ state: 'filling', raised_micros: 40, raised_until: '2026-11-21T20:00:00.000Z' },
      },
      {
        ...{ budget_id: 'bud_workspace', budget_name: 'Workspace', period: { kind: 'month', start, end } },
        ...{ limit_micros: 100, spent_micros: 0, held_micros: 0, pace_end_micros: null, at_risk: false },
        state: 'exact',
      },
    ]);
    expect(enforcer.asked.filter((each) => each.tenantId === tenantId)).toEqual([{ tenantId, max: 10 }]);
  });

  it.each([
    ['is down', () => enforcer.stop(), () => enforcer.start()],
    ['hangs', hang, async () => goOn()],
  ])('are null while the enforcer %s, and the rest is answered', async (_how, takeAway, bringBack) => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [settled('2026-11-21T18:00:00.000Z', 70)]);
    await takeAway();
    try {
      const { status, body } = await dashboard.get(tenantId, OVERVIEW);
      expect({ status, budgets: body.budgets, total: body.spend.total_micros }).toEqual({
        ...{ status: 200, budgets: null, total: 70 },
      });
    } finally {
      await bringBack();
    }
    await eventually(async () => expect((await dashboard.get(tenantId, OVERVIEW)).body.budgets).toEqual([]));
  });
});
