import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import {
  bucketDeltas,
  bucketKey,
  createBucketCounter,
  createRunCounter,
  runStarts,
  type BucketDelta,
  type BucketScope,
} from './bucket.ts';
import { BUDGET_BLOCKED, SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { tallyOf } from './tally.ts';

const tenantId = provenTenantId('ws_1');
const otherTenant = provenTenantId('ws_2');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Late in a day, an hour and a quarter of an hour. */
const time = 20 * DAY_MS - 1;

let ids = 0;
function event(type: string, data: DashboardEvent['data'], at = time, tenant = tenantId): DashboardEvent {
  ids += 1;
  return { tenantId: tenant, source: 'gw', eventId: `e${ids}`, type, time: at, data };
}

const placeOf = ({ scope, grain, start }: BucketDelta) => [scope.level, grain, start];

describe('what events add to roll-ups', () => {
  const starts = [
    ['1d', 19 * DAY_MS],
    ['1h', 20 * DAY_MS - 60 * MINUTE_MS],
    ['15m', 20 * DAY_MS - 15 * MINUTE_MS],
    ['1m', 20 * DAY_MS - MINUTE_MS],
  ] as const;
  const of = (level: string, count = 4) => starts.slice(0, count).map(([grain, start]) => [level, grain, start]);

  it.each([
    ['of settled spend: all of the workspace, and but for minutes of its agent and model', SPEND_SETTLED, 3, 3],
    ['of a blocked call: of the workspace and its agent', BUDGET_BLOCKED, 3, 0],
  ])('%s', (_of, type, agents, models) => {
    const one = event(type, { agent_id: 'planner', model: 'opus' });
    const deltas = bucketDeltas([one], []);
    const places = [...of('workspace'), ...of('agent', agents), ...of('model', models)];
    expect(deltas.map(placeOf).sort()).toEqual(places.sort());
    for (const { tally, runsStarted } of deltas) expect([tally, runsStarted]).toEqual([tallyOf(one), 0]);
  });

  it('that name no agent: of the workspace', () => {
    expect(bucketDeltas([event(SPEND_SETTLED, { model: 'opus' })], []).map(placeOf)).toEqual(of('workspace'));
  });

  it('is one addition for each roll-up, whose tallies add up', () => {
    const data = { agent_id: 'planner', amount_micros: 5 };
    const events = [event(SPEND_SETTLED, data), event(SPEND_SETTLED, data, time - 1)];
    const deltas = bucketDeltas(events, []);
    expect(deltas).toHaveLength(10);
    for (const { tally } of deltas) expect(tally).toMatchObject({ settlements: 2, totalMicros: 10, lastAt: time });
  });

  it('moves the start of a run from where it was known to lie', () => {
    const deltas = bucketDeltas([], [{ tenantId, runId: 'r', from: time, to: time - 10 * MINUTE_MS }]);
    // The same day, hour and quarter: only the minutes differ.
    expect(deltas.map((delta) => [...placeOf(delta), delta.runsStarted]).sort()).toEqual(
      [
        ...of('workspace', 3).map((place) => [...place, 0]),
        ['workspace', '1m', time - 10 * MINUTE_MS - MINUTE_MS + 1, 1],
        ['workspace', '1m', 20 * DAY_MS - MINUTE_MS, -1],
      ].sort(),
    );
  });

  it('counts the start of a run that was not known', () => {
    const deltas = bucketDeltas([], [{ tenantId, runId: 'r', from: undefined, to: time }]);
    expect(deltas.map((delta) => delta.runsStarted)).toEqual([1, 1, 1, 1]);
  });
});

describe('the starts of runs', () => {
  const run = (id: string, at: number, tenant = tenantId) => event('tool.called', { run_id: id }, at, tenant);

  it('are those of their earliest events, of each workspace apart', () => {
    const events = [run('a', 5), run('a', 3), run('a', 4), run('a', 9, otherTenant), event('tool.called', {})];
    expect(runStarts(events, new Map())).toEqual([
      { tenantId, runId: 'a', from: undefined, to: 3 },
      { tenantId: otherTenant, runId: 'a', from: undefined, to: 9 },
    ]);
  });

  it('move back only, from where they were known to lie', () => {
    const known = new Map([
      ['ws_1|a', 10],
      ['ws_1|b', 10],
      ['ws_1|c', 10],
    ]);
    expect(runStarts([run('a', 9), run('b', 10), run('c', 11)], known)).toEqual([
      { tenantId, runId: 'a', from: 10, to: 9 },
    ]);
  });
});

describe('the keys of stored roll-ups', () => {
  it.each<[string, BucketScope]>([
    ['ws_1|1d|86400000|workspace|', { level: 'workspace' }],
    ['ws_1|1d|86400000|agent|planner', { level: 'agent', agentId: 'planner' }],
    ['ws_1|1d|86400000|model|planner', { level: 'model', agentId: 'planner', model: null }],
    ['ws_1|1d|86400000|model|planner|a|b', { level: 'model', agentId: 'planner', model: 'a|b' }],
  ])('stay what they are, since roll-ups are found by them: %s', (key, scope) => {
    expect(bucketKey(tenantId, scope, '1d', DAY_MS)).toBe(key);
  });
});

describe('the number of roll-ups that events touch', () => {
  it('is exact, whatever the events', () => {
    const made = fc.record({
      tenant: fc.constantFrom(tenantId, otherTenant),
      type: fc.constantFrom(SPEND_SETTLED, BUDGET_BLOCKED),
      at: fc.integer({ min: time - 2 * 60 * MINUTE_MS, max: time }),
      agent: fc.option(fc.constantFrom('planner', 'undefined'), { nil: undefined }),
      model: fc.option(fc.constantFrom('opus', 'undefined'), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(made, { maxLength: 50 }), (list) => {
        const events = list.map(({ tenant, type, at, agent, model }) =>
          event(type, { ...(agent && { agent_id: agent }), ...(model && { model }) }, at, tenant),
        );
        const count = createBucketCounter();
        const counted = events.reduce((sum, one) => sum + count(one), 0);
        expect(counted).toBe(bucketDeltas(events, []).length);
      }),
      { seed: 20261121, numRuns: 500 },
    );
  });
});

describe('the number of documents that runs cost', () => {
  const run = (id: string, at: number, tenant = tenantId) => event('tool.called', { run_id: id }, at, tenant);

  it('is each run and the four roll-ups that its start may leave, of late events', () => {
    const count = createRunCounter(time);
    const late = time - DAY_MS;
    expect([run('a', late), run('a', late), run('b', late), run('a', late, otherTenant)].map(count)).toEqual([
      ...[5, 0, 5, 5],
    ]);
    expect(count(event('tool.called', {}, late))).toBe(0);
  });

  it('is each run and at most all roll-ups since the oldest event, of live events', () => {
    const count = createRunCounter(time);
    const live = time - 2 * MINUTE_MS;
    // Three minutes, a quarter, an hour and a day are six, however many runs there are.
    expect([run('a', live), run('b', live), run('c', live)].map(count)).toEqual([5, 3, 1]);
    // With a late one each of the four runs may leave four.
    expect(count(run('d', time - 30 * DAY_MS))).toBe(11);
  });

  it('grows when an event of a known run is older than all before', () => {
    const count = createRunCounter(time);
    expect([run('a', time), run('b', time), run('a', time - DAY_MS)].map(count)).toEqual([5, 1, 4]);
  });
});
