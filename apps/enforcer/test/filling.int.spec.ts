import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { StandInBudget } from './budgets.stand-in.ts';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const stack = useEnforcer(useMongo(), { replicas: 2 });
const { budgets, clock, dashboard } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

const MONTHLY = { id: 'bud_month', name: 'Month', period: { kind: 'month', startDay: 1 }, limitMicros: 1_000_000 };
const TEAMS = { ...MONTHLY, id: 'bud_teams', name: 'Teams', each: 'label:team' };
const FRESH_MS = 2_000;
const DAY_MS = 86_400_000;

/** Makes the budgets, and waits until no replica knows others. */
function make({ tenantId }: Workspace, ...all: StandInBudget[]): void {
  budgets.setBudgets(tenantId, ...all);
  clock.now += FRESH_MS;
}

async function rowOf(workspace: Workspace, budgetId: string, replica = 0): Promise<Body> {
  const { items } = await workspace.limits(`?budget_id=${budgetId}`, { replica });
  return items[0]!;
}

const exactly = (workspace: Workspace, budgetId: string, counts: Body, replica = 0): Promise<void> =>
  eventually(async () => {
    expect(await rowOf(workspace, budgetId, replica)).toMatchObject({ state: 'exact', filled_percent: 100, ...counts });
  });

/** Nine settlements of this month or of the last two days: 1 to 9 micros. */
async function spendNine(workspace: Workspace): Promise<void> {
  for (let micros = 1; micros <= 9; micros += 1) {
    const ago = Math.min((micros - 1) * 3_600_000, clock.now - startOfMonth());
    await workspace.spend({ amount_micros: micros, labels: { team: micros % 2 === 0 ? 'growth' : 'sales' } }, { ago });
  }
}
function startOfMonth(): number {
  return Date.parse(`${new Date(clock.now).toISOString().slice(0, 7)}-01T00:00:00.000Z`);
}

describe('a budget that is made in the middle of its period', () => {
  it('counts each settlement of the period once, however it was settled, and by its labels', async () => {
    const workspace = stack.newWorkspace();
    await spendNine(workspace);
    const { id } = await workspace.granted({ amount_micros: 200, labels: { team: 'growth' } });
    await workspace.settle(id, 100);
    const open = await workspace.granted({ amount_micros: 3_000, labels: { team: 'growth' } });
    const expired = await workspace.granted({ amount_micros: 1, ttl_seconds: 10, labels: { team: 'growth' } });
    await stack.posted();
    clock.now += 20_000;
    make(workspace, MONTHLY, TEAMS);
    await exactly(workspace, 'bud_month', { spent_micros: 145, held_micros: 3_000, open_reservations: 1 });
    await exactly(workspace, 'bud_teams', { value: 'growth', spent_micros: 120, held_micros: 3_000 }, 1);

    // What was open or had expired when the budget was made counts in it once it is settled.
    await workspace.settle(open.id, 10_000);
    await workspace.settle(expired.id, 100_000);
    await workspace.spend({ amount_micros: 500_000, labels: { team: 'growth' } });
    await stack.posted();
    await exactly(workspace, 'bud_month', { spent_micros: 610_145, held_micros: 0, open_reservations: 0 });
    await exactly(workspace, 'bud_teams', { value: 'growth', spent_micros: 610_120, held_micros: 0 }, 1);
  });

  it('counts what it knows while the dashboard is down, and says so', async () => {
    const workspace = stack.newWorkspace();
    await spendNine(workspace);
    await stack.posted();
    dashboard.state.down = true;
    make(workspace, MONTHLY);
    await workspace.spend({ amount_micros: 500 });
    await stack.posted();
    await eventually(async () =>
      expect(await rowOf(workspace, 'bud_month')).toMatchObject({
        ...{ state: 'filling', filled_percent: 0, spent_micros: 500 },
      }),
    );
    expect((await workspace.reserve(1)).body).toMatchObject({ limits: [{ budget_id: 'bud_month', state: 'filling' }] });
    dashboard.state.down = false;
    await exactly(workspace, 'bud_month', { spent_micros: 545 });
  });

  it('is filled exactly although its replica stops in the middle, and another one fills it too', async () => {
    const workspace = stack.newWorkspace();
    await spendNine(workspace);
    await stack.posted();
    const [second, reached] = [Promise.withResolvers<void>(), dashboard.state.pages + 2];
    dashboard.state.afterPage = (pages) => {
      if (pages >= reached) second.resolve();
    };
    make(workspace, MONTHLY);
    void rowOf(workspace, 'bud_month', 1);
    void rowOf(workspace, 'bud_month', 0);
    await second.promise;
    await stack.restart(0);
    await exactly(workspace, 'bud_month', { spent_micros: 45 });
    await exactly(workspace, 'bud_month', { spent_micros: 45 }, 1);
  });

  it('reports the thresholds that earlier spend has reached', async () => {
    const workspace = stack.newWorkspace();
    await spendNine(workspace);
    await stack.posted();
    make(workspace, { ...MONTHLY, limitMicros: 50 });
    await exactly(workspace, 'bud_month', { spent_micros: 45 });
    await eventually(() => {
      const percents = workspace.events('budget.threshold_reached').map(({ data }) => (data as Body)['percent']);
      expect([...new Set(percents)]).toEqual([50, 80]);
    });
  });

  it('never denies for what it does not count: spend of before its period and of other workspaces', async () => {
    const [workspace, other] = [stack.newWorkspace(), stack.newWorkspace()];
    await other.spend({ amount_micros: 90 });
    await workspace.spend({ amount_micros: 90 }, { ago: DAY_MS });
    await workspace.spend({ amount_micros: 5 });
    await stack.posted();
    make(workspace, { ...MONTHLY, period: { kind: 'hour', startDay: 1 }, limitMicros: 100 });
    await exactly(workspace, 'bud_month', { spent_micros: 5 });
    await workspace.granted(95);
  });
});

it('spend that comes more than three days late counts in the running period once its budget is switched on again', async () => {
  const workspace = stack.newWorkspace();
  const span = { start: clock.now - 10 * DAY_MS, end: clock.now + 10 * DAY_MS };
  const project = { ...MONTHLY, id: 'bud_project', period: { kind: 'once', startDay: 1, ...span } };
  make(workspace, project);
  await workspace.spend({ amount_micros: 7 });
  await stack.posted();
  await exactly(workspace, 'bud_project', { spent_micros: 7 });
  await workspace.spend({ amount_micros: 100 }, { ago: 9 * DAY_MS });
  await workspace.spend({ amount_micros: 1_000 }, { ago: 11 * DAY_MS });
  await stack.posted();
  expect(await rowOf(workspace, 'bud_project')).toMatchObject({ spent_micros: 7 });
  make(workspace, { ...project, generation: 2 });
  await exactly(workspace, 'bud_project', { spent_micros: 107 });
  await exactly(workspace, 'bud_project', { spent_micros: 107 }, 1);
});

it('a budget that was paused counts what was spent meanwhile', async () => {
  const workspace = stack.newWorkspace();
  make(workspace, MONTHLY);
  await workspace.spend({ amount_micros: 7 });
  await stack.posted();
  await exactly(workspace, 'bud_month', { spent_micros: 7 });
  make(workspace);
  const { id } = await workspace.granted(20);
  await workspace.settle(id, 10);
  expect((await workspace.limits()).items).toEqual([]);
  make(workspace, MONTHLY);
  await exactly(workspace, 'bud_month', { spent_micros: 17 });
});
