import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { BUDGET_BLOCKED, SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { rollupDeltas, rowKey, slotsOf, WHOLE_DAY } from './rollup.ts';
import { tallyOf } from './tally.ts';

const tenantId = provenTenantId('ws_1');
const otherTenant = provenTenantId('ws_2');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Late in a day, an hour and a quarter of an hour. */
const time = 20 * DAY_MS - 1;

let ids = 0;
function event(type: string, data: DashboardEvent['data'], at = time, tenant = tenantId): DashboardEvent {
  ids += 1;
  return { tenantId: tenant, source: 'gw', eventId: `e${ids}`, type, time: at, data };
}

describe('what events add to roll-ups', () => {
  it.each([
    ['of settled spend: to the row of its agent and model', SPEND_SETTLED, 'opus', 'opus'],
    ['of settled spend without a model: to a row of its own', SPEND_SETTLED, undefined, null],
    ['of a blocked call: to the row of what settles nothing', BUDGET_BLOCKED, 'opus', undefined],
  ])('%s, and to the workspace, in the last slots of the day and the hour', (_of, type, model, row) => {
    const one = event(type, { agent_id: 'planner', ...(model !== undefined && { model }) });
    const tally = tallyOf(one);
    const workspace = { tally, runsStarted: 0 };
    const agent = { name: 'planner', model: row };
    expect(rollupDeltas([one], [])).toEqual([
      {
        ...{ tenantId, period: 'day', start: 19 * DAY_MS, workspace: new Map([[23, workspace]]) },
        agents: new Map([[rowKey(agent), { ...agent, slots: new Map([[23, tally]]) }]]),
        days: new Map([[rowKey(agent), { ...agent, slots: new Map([[WHOLE_DAY, tally]]) }]]),
        plans: new Map(),
        labels: new Map(),
      },
      {
        ...{ tenantId, period: 'hour', start: 20 * DAY_MS - HOUR_MS, workspace: new Map([[59, workspace]]) },
        agents: new Map([[rowKey(agent), { ...agent, slots: new Map([[3, tally]]) }]]),
        days: new Map(),
        plans: new Map(),
        labels: new Map(),
      },
    ]);
  });

  it('of settled spend under a plan: to the row of the plan', () => {
    const data = { agent_id: 'planner', plan_key: 'pro', amount_micros: 5 };
    const [one, other] = [event(SPEND_SETTLED, data), event(BUDGET_BLOCKED, data)];
    const tally = tallyOf(one);
    const [day, hour] = rollupDeltas([one, other], []);
    const ofDay = new Map([
      [WHOLE_DAY, tally],
      [23, tally],
    ]);
    const pro = { name: 'pro', model: undefined };
    expect(day!.plans).toEqual(new Map([['pro', { ...pro, slots: ofDay }]]));
    expect(hour!.plans).toEqual(new Map([['pro', { ...pro, slots: new Map([[3, tally]]) }]]));
  });

  it('of several settlements under a plan: their sum', () => {
    const data = { plan_key: 'pro', amount_micros: 5 };
    const [day] = rollupDeltas([event(SPEND_SETTLED, data), event(SPEND_SETTLED, data, time - 1)], []);
    const { slots } = day!.plans.get('pro')!;
    expect([...slots].map(([slot, { totalMicros }]) => [slot, totalMicros])).toEqual([
      [WHOLE_DAY, 10],
      [23, 10],
    ]);
  });

  it('that name no agent: to the workspace alone', () => {
    const deltas = rollupDeltas([event(SPEND_SETTLED, { model: 'opus' })], []);
    expect(deltas.map(({ workspace, agents, days }) => [workspace.size, agents.size, days.size])).toEqual([
      [1, 0, 0],
      [1, 0, 0],
    ]);
  });

  it('is one addition for each roll-up, of each workspace apart, whose tallies add up', () => {
    const data = { agent_id: 'planner', amount_micros: 5 };
    const events = [event(SPEND_SETTLED, data), event(SPEND_SETTLED, data, time - 1)];
    const deltas = rollupDeltas([...events, event(SPEND_SETTLED, data, time, otherTenant)], []);
    expect(deltas.map((delta) => [delta.tenantId, delta.period])).toEqual([
      [tenantId, 'day'],
      [tenantId, 'hour'],
      [otherTenant, 'day'],
      [otherTenant, 'hour'],
    ]);
    const sum = { settlements: 2, totalMicros: 10, lastAt: time };
    expect(deltas[0]!.workspace.get(23)!.tally).toMatchObject(sum);
    expect([...deltas[1]!.agents.values()][0]!.slots.get(3)).toMatchObject(sum);
  });

  it('moves the start of a run from where it was known to lie', () => {
    const [day, hour] = rollupDeltas([], [{ tenantId, runId: 'r', from: time, to: time - 10 * MINUTE_MS }]);
    // Both lie in the same hour of the day, so only the minutes differ.
    expect([...day!.workspace].map(([slot, { runsStarted }]) => [slot, runsStarted])).toEqual([[23, 0]]);
    expect([...hour!.workspace].map(([slot, { runsStarted }]) => [slot, runsStarted])).toEqual([
      [49, 1],
      [59, -1],
    ]);
  });

  it('counts the start of a run that was not known', () => {
    const deltas = rollupDeltas([], [{ tenantId, runId: 'r', from: undefined, to: time }]);
    expect(deltas.flatMap(({ workspace }) => [...workspace.values()].map((slot) => slot.runsStarted))).toEqual([1, 1]);
  });

  it('reads a model whose name is no well-formed text as what the database makes of it', () => {
    const [day] = rollupDeltas([event(SPEND_SETTLED, { agent_id: 'planner', model: 'a\ud800' })], []);
    expect([...day!.agents.values()].map(({ model }) => model)).toEqual(['a\ufffd']);
  });
});

describe('the slots that a piece is read from', () => {
  const start = 19 * DAY_MS;

  it.each([
    ['a day of the workspace: all its hours', '1d', 'workspace', start, { start, first: 0, count: 24 }],
    ['a day of agents: the day as a whole', '1d', 'rows', start, { start, first: 24, count: 1 }],
    ['an hour: one of the day', '1h', 'workspace', start + 5 * HOUR_MS, { start, first: 5, count: 1 }],
    [
      'a quarter of the workspace: its minutes in the hour',
      ...(['15m', 'workspace', start + HOUR_MS + 30 * MINUTE_MS] as const),
      { start: start + HOUR_MS, first: 30, count: 15 },
    ],
    [
      'a quarter of agents: one of the hour',
      ...(['15m', 'rows', start + HOUR_MS + 30 * MINUTE_MS] as const),
      { start: start + HOUR_MS, first: 2, count: 1 },
    ],
    [
      'a minute: one of the hour',
      ...(['1m', 'workspace', start + 2 * HOUR_MS - MINUTE_MS] as const),
      { start: start + HOUR_MS, first: 59, count: 1 },
    ],
  ] as const)('%s', (_of, grain, level, from, slots) => {
    expect(slotsOf(grain, level, from)).toEqual(slots);
  });
});

describe('the keys of the rows of agents', () => {
  it('are what no two rows of a roll-up have in common, whatever a model is called', () => {
    const models = [undefined, null, '', '=', '|', 'opus'];
    const rows = ['a', 'a:b'].flatMap((name) => models.map((model) => rowKey({ name, model })));
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.slice(0, 3)).toEqual(['a', 'a|', 'a|=']);
  });
});
