import { expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useEnforcer } from './enforcer.stack.ts';

const DAY = 86_400_000;

const stack = useEnforcer(useMongo(), { replicas: 2 });
const { budgets, clock, limitedTo } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;

/** What was reported, once per event: `scope percent at-what-spend`, in the order of the log. */
const thresholds = (workspace: Workspace) => {
  const byId = new Map(
    workspace.events('budget.threshold_reached').map(({ id, data }) => [id, data as Record<string, unknown>]),
  );
  return [...byId.values()].map((data) => `${data['scope']} ${data['percent']} at ${data['spent_micros']}`);
};

/** On a busy machine, budgets may answer too late; thresholds are then reported two seconds later. */
const expectReported = (workspace: Workspace, expected: string[]) =>
  eventually(() => {
    const texts = thresholds(workspace);
    if (texts.length < expected.length) clock.now += 2000;
    expect(texts).toEqual(expected);
  });

it('50%, 80% and 100% of a limit are reported once per limit and day, however the spend comes', async () => {
  const workspace = limitedTo(100);
  const spend = async (micros: number) => {
    await workspace.spend({ amount_micros: micros });
    await stack.posted();
  };
  await spend(49);
  expect(thresholds(workspace)).toEqual([]);
  await spend(1);
  await expectReported(workspace, ['workspace 50 at 50']);
  await spend(29);
  const { id } = await workspace.granted(10);
  await expectReported(workspace, ['workspace 50 at 50']);
  await workspace.settle(id, 10);
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 50', 'workspace 80 at 89']);
  await spend(11);
  await spend(500);
  const ofDay = ['workspace 50 at 50', 'workspace 80 at 89', 'workspace 100 at 100'];
  await expectReported(workspace, ofDay);
  expect(workspace.events('budget.threshold_reached')[0]).toMatchObject({
    source: 'tollkeeper/enforcer',
    data: {
      ...{ scope: 'workspace', scope_id: workspace.tenantId, percent: 50 },
      ...{ spent_micros: 50, daily_budget_usd_micros: 100 },
    },
  });

  clock.now += DAY;
  await spend(80);
  await expectReported(workspace, [...ofDay, 'workspace 50 at 80', 'workspace 80 at 80']);
});

it('spend of yesterday that comes in today is reported as of yesterday', async () => {
  const workspace = limitedTo(100);
  await workspace.spend({ amount_micros: 50 }, { ago: DAY });
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 50']);
  const [event] = workspace.events('budget.threshold_reached');
  const today = new Date(clock.now).toISOString().slice(0, 10);
  expect(Date.parse(event!.time)).toBe(Date.parse(today) - 1);
});

it('each limit is reported separately', async () => {
  const workspace = limitedTo(1000);
  budgets.setAgent(workspace.tenantId, 'planner', 100);
  budgets.setAgent(workspace.tenantId, 'coder', 10);
  budgets.setPlan(workspace.tenantId, 'pro', 200);
  await workspace.spend({ amount_micros: 100, plan_key: 'pro' });
  await stack.posted();
  await expectReported(workspace, ['agent 50 at 100', 'agent 80 at 100', 'agent 100 at 100', 'plan 50 at 100']);
});

it('they are reported once when two replicas settle and post at the same time', async () => {
  const workspace = limitedTo(1000);
  const settleOne = async (i: number) => {
    const replica = i % 2;
    const { id } = await workspace.granted(20, { replica });
    await workspace.settle(id, 20, `stl-${i}`, { replica: 1 - replica });
  };
  await Promise.all(Array.from({ length: 50 }, (_, i) => settleOne(i)));
  await stack.posted();
  const percents = thresholds(workspace).map((text) => text.split(' ')[1]);
  expect(percents.toSorted()).toEqual(['100', '50', '80']);
  expect(await workspace.limit()).toMatchObject({ spent_micros: 1000, held_micros: 0 });
});

it('they are reported once through a restart of all replicas, and that of spend before it is not lost', async () => {
  const workspace = limitedTo(100);
  await workspace.spend({ amount_micros: 60 });
  await stack.posted();
  await stack.restart(0);
  await workspace.spend({ amount_micros: 20 });
  await stack.restart(1);
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 60', 'workspace 80 at 80']);
  await workspace.spend({ amount_micros: 1 });
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 60', 'workspace 80 at 80']);
});

it('what was reached while budgets or the log were down is reported afterwards', async () => {
  const workspace = limitedTo(100);
  for (const replica of [0, 1]) await workspace.granted(0, { replica });
  clock.now += 2000;
  budgets.state.down = true;
  // Spend is posted by the last known budgets. The daily budget of this agent was never asked for.
  await workspace.spend({ agent_id: 'coder', amount_micros: 60 });
  await stack.posted();
  expect(thresholds(workspace)).toEqual([]);
  budgets.state.down = false;
  clock.now += 2000;
  // Reported without further spend: once a limit is used up, nothing more can be spent.
  await eventually(() => expect(thresholds(workspace)).toEqual(['workspace 50 at 60']));

  stack.log.down = true;
  await workspace.spend({ amount_micros: 20 });
  await eventually(async () => expect(await workspace.limit()).toMatchObject({ spent_micros: 80 }));
  stack.log.down = false;
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 60', 'workspace 80 at 80']);
});

it('what is settled after midnight is reported for the day of its grant', async () => {
  const workspace = limitedTo(100);
  clock.now += DAY / 2 - 1000;
  const { id } = await workspace.granted(90);
  clock.now += 2000;
  await workspace.settle(id, 90);
  await stack.posted();
  await expectReported(workspace, ['workspace 50 at 90', 'workspace 80 at 90']);
});

it('spend under a reservation reaches the limits of its agent, whomever the event names', async () => {
  const workspace = limitedTo(1000);
  budgets.setAgent(workspace.tenantId, 'planner', 100);
  const { id } = await workspace.granted(90);
  await workspace.spend({ amount_micros: 90, reservation_id: id, agent_id: 'coder' });
  await stack.posted();
  await expectReported(workspace, ['agent 50 at 90', 'agent 80 at 90']);
});
