import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { SPEND_REPRICED, SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { createRollupCounter, createRunCounter, PACKED_COST } from './rollup.cost.ts';

const tenantId = provenTenantId('ws_1');
const otherTenant = provenTenantId('ws_2');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const time = 20 * DAY_MS - 1;
/** The cost of rewriting a part of a roll-up. */
const PART = 6;

function event(data: DashboardEvent['data'], at = time, tenant = tenantId): DashboardEvent {
  return { tenantId: tenant, source: 'gw', eventId: 'e', type: SPEND_SETTLED, time: at, data };
}

describe('the roll-ups that events rewrite', () => {
  it('are the day and the hour of the first event, and none for others of the same hour', () => {
    const count = createRollupCounter(() => ({ agents: 1, days: 1, plans: 1, labels: 1 }));
    const events = [event({ agent_id: 'a' }), event({ agent_id: 'b' }, time - 1), event({})];
    expect(events.map(count)).toEqual([2 * PART, 0, 0]);
  });

  it('are one more of each other hour, and two of another day or workspace', () => {
    const count = createRollupCounter(() => ({ agents: 1, days: 1, plans: 1, labels: 1 }));
    const events = [event({}), event({}, time - HOUR_MS), event({}, time - DAY_MS), event({}, time, otherTenant)];
    expect(events.map(count)).toEqual([2, 1, 2, 2].map((rollups) => rollups * PART));
  });

  it('are three further parts for each agent where it is not known how many parts there are', () => {
    const count = createRollupCounter(() => ({ agents: Infinity, days: Infinity, plans: Infinity, labels: Infinity }));
    const events = ['a', 'b', 'a'].map((agent) => event({ agent_id: agent }));
    expect(events.map(count)).toEqual([5, 3, 0].map((rollups) => rollups * PART));
  });

  it('are a further part for each row of an agent and each plan, up to as many as there are', () => {
    const count = createRollupCounter(() => ({ agents: 3, days: 2, plans: 1, labels: 1 }));
    const rows = [1, 2, 2, 3, 4].map((number) => event({ agent_id: 'a', model: `m${number}`, plan_key: `p${number}` }));
    // The day, the hour and their parts; then one less of `days`; finally none.
    expect(rows.map(count)).toEqual([2 + 3, 3, 0, 2, 0].map((parts) => parts * PART));
    const ofPlans = createRollupCounter(() => ({ agents: 1, days: 1, plans: 2, labels: 1 }));
    expect(rows.map(ofPlans)).toEqual([2 + 2, 2, 0, 0, 0].map((parts) => parts * PART));
    const ofLabels = createRollupCounter(() => ({ agents: 1, days: 1, plans: 1, labels: 3 }));
    const labelled = ['a', 'b', 'b', 'c'].map((user) => ({
      ...event({}),
      tracked: [
        ['team', 'x'],
        ['user', user],
      ] as const,
    }));
    // The day, the hour and the parts of two labels; then those of each new value, up to as many as there are.
    expect(labelled.map(ofLabels)).toEqual([2 + 4, 2, 0, 0].map((parts) => parts * PART));
  });
});

describe('the number of documents that runs cost', () => {
  const run = (id: string, at: number, tenant = tenantId) => event({ run_id: id }, at, tenant);

  it('is each run and the two roll-ups that its start may leave, of late events', () => {
    const count = createRunCounter(time);
    const late = time - 5 * DAY_MS;
    const cost = PACKED_COST + 2 * PART;
    expect([run('a', late), run('a', late), run('b', late), run('a', late, otherTenant)].map(count)).toEqual([
      ...[cost, 0, cost, cost],
    ]);
    expect(count(event({}, late))).toBe(0);
    expect(count({ ...run('c', late), type: SPEND_REPRICED })).toBe(0);
  });

  it('is each run and at most all roll-ups since the oldest event, of live events', () => {
    const count = createRunCounter(time);
    // The same hour and day.
    const live = time - 2 * 60_000;
    expect([run('a', live), run('b', live), run('c', live)].map(count)).toEqual([
      PACKED_COST + 2 * PART,
      PACKED_COST,
      PACKED_COST,
    ]);
    // With a late event, each of the four runs may leave two roll-ups.
    expect(count(run('d', time - 30 * DAY_MS))).toBe(PACKED_COST + 6 * PART);
  });

  it('grows when an event of a known run is older than all before', () => {
    const count = createRunCounter(time);
    const events = [run('a', time), run('b', time), run('a', time - DAY_MS)];
    expect(events.map(count)).toEqual([PACKED_COST + 2 * PART, PACKED_COST, 2 * PART]);
  });
});
