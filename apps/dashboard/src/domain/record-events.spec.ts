import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import {
  BUDGET_BLOCKED,
  identitiesOf,
  isBlocked,
  SPEND_SETTLED,
  type DashboardEvent,
  type KnownIdentities,
} from './event.ts';
import { createWriteCounter, recordEvents, type EventRecorder } from './record-events.ts';
import { PACKED_COST } from './rollup.cost.ts';
import { runKey } from './run.ts';

const now = Date.parse('2026-11-21T18:34:56.789Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const TENANTS = ['ws_a', 'ws_b'].map(provenTenantId);
const [tenantId] = TENANTS as [(typeof TENANTS)[number]];

/** Remembers what a store would, starting from the known starts of runs, and counts the documents that are written. */
function createRecorder(starts = new Map<string, number>()) {
  const identities: KnownIdentities = new Map();
  let documents = 0;
  const recorder: EventRecorder<undefined> = {
    knownIdentities: async (_session, events) =>
      new Map([...identities].filter(([identity]) => events.flatMap(identitiesOf).includes(identity))),
    async knownRunStarts(_session, runs) {
      const asked = new Set(runs.map(({ tenantId: tenant, runId }) => runKey(tenant, runId)));
      return new Map([...starts].filter(([key]) => asked.has(key)));
    },
    async insert(_session, events, saved) {
      documents += events.reduce((sum, event) => sum + (isBlocked(event) ? 1 : PACKED_COST), 0);
      for (const each of events) for (const key of identitiesOf(each)) identities.set(key, each.data.amount_micros);
      documents += saved.length * PACKED_COST;
      for (const { tenantId: tenant, runId, to } of saved) starts.set(runKey(tenant, runId), to);
    },
    addNames: async () => [],
    addToRollups: async (_session, deltas) => void (documents += deltas.length),
    rollupPartsOf: () => ({ agents: 1, days: 1, plans: 1, labels: 1 }),
  };
  return { recorder, starts, documents: () => documents };
}

/** How many documents `events` write, given the known starts of runs. */
async function written(events: DashboardEvent[], knownStarts: Map<string, number>): Promise<number> {
  const { recorder, documents } = createRecorder(new Map(knownStarts));
  await recordEvents(recorder, undefined, events);
  return documents();
}

function counted(events: DashboardEvent[]): number {
  const count = createWriteCounter({ rollupPartsOf: () => ({ agents: 1, days: 1, plans: 1, labels: 1 }) }, now);
  return events.reduce((sum, event) => sum + count(event), 0);
}

function settled(index: number, time: number, agent = `agent-${index % 50}`): DashboardEvent {
  const data = { run_id: `r${index}`, agent_id: agent, settlement_id: `s${index}`, amount_micros: 1, model: 'opus' };
  return { tenantId, source: 'gw', eventId: `e${index}`, type: SPEND_SETTLED, time, data };
}

describe('what a transaction is expected to write', () => {
  it('is no less than what late events write that move the start of their runs', async () => {
    const events = Array.from({ length: 300 }, (_, index) => settled(index, now - 30 * DAY_MS, 'planner'));
    const starts = new Map(
      events.map(({ data }, index) => [runKey(tenantId, data.run_id!), now - index * 90 * MINUTE_MS]),
    );
    expect(counted(events)).toBeGreaterThanOrEqual(await written(events, starts));
  });

  it('has the roll-ups that a moved start may leave up to ten minutes from now, as late as any event may be', () => {
    const midnight = Date.parse('2026-11-22T00:00:00.000Z');
    const ofTwoRuns = (at: number) => {
      const count = createWriteCounter({ rollupPartsOf: () => ({ agents: 1, days: 1, plans: 1, labels: 1 }) }, at);
      return [settled(1, at - 1, 'planner'), settled(2, at - 1, 'planner')].map(count);
    };
    // Each event writes itself and its run. The first also writes its day and hour, and both again for the run's start.
    const [first, second] = [2 * PACKED_COST + 4 * 6, 2 * PACKED_COST];
    expect(ofTwoRuns(midnight - 10 * MINUTE_MS - 1)).toEqual([first, second]);
    expect(ofTwoRuns(midnight - 10 * MINUTE_MS)).toEqual([first, second + 2 * 6]);
  });

  it('is no less than what any events write, whatever is known of their runs', async () => {
    const time = fc.oneof(
      fc.integer({ min: now - 60 * DAY_MS, max: now + 5 * MINUTE_MS }),
      fc.integer({ min: now - 60 * MINUTE_MS, max: now + 5 * MINUTE_MS }),
    );
    const event = fc.record({
      tenant: fc.constantFrom(...TENANTS),
      type: fc.constantFrom(SPEND_SETTLED, BUDGET_BLOCKED, 'tool.called'),
      time,
      run: fc.option(fc.integer({ min: 0, max: 30 })),
      agent: fc.option(fc.constantFrom('planner', 'coder', 'undefined'), { nil: undefined }),
      model: fc.option(fc.constantFrom('opus', 'undefined', 'a|b'), { nil: undefined }),
    });
    const known = fc.record({ tenant: fc.constantFrom(...TENANTS), run: fc.integer({ min: 0, max: 30 }), time });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), fc.array(known, { maxLength: 40 }), async (made, runs) => {
        const events = made.map(({ tenant, type, time: at, run, agent, model }, index): DashboardEvent => {
          const ids = { ...(run !== null && { run_id: `r${run}` }), ...(agent && { agent_id: agent }) };
          const data = { ...ids, settlement_id: `s${index}`, ...(model && { model }) };
          return { tenantId: tenant, source: 'gw', eventId: `e${index}`, type, time: at, data };
        });
        const starts = new Map(runs.map(({ tenant, run, time: at }) => [runKey(tenant, `r${run}`), at]));
        expect(counted(events)).toBeGreaterThanOrEqual(await written(events, starts));
      }),
      { seed: 20261121, numRuns: 1000 },
    );
  });

  it('is little more for live events, however many runs they are of, so that a batch of them stays together', async () => {
    const events = Array.from({ length: 1000 }, (_, index) => settled(index, now - index * 60));
    expect(counted(events)).toBeLessThan((await written(events, new Map())) + 60);
  });

  it('is as much for an event that comes again, and less for its like', () => {
    const count = createWriteCounter({ rollupPartsOf: () => ({ agents: 1, days: 1, plans: 1, labels: 1 }) }, now);
    const first = settled(1, now - 1);
    const like = { ...first, eventId: 'e2', data: { ...first.data, settlement_id: 's2' } };
    // The event, the start of its run, its day and hour, and both again for the run's start.
    expect([count(first), count(like), count(first)]).toEqual([2 * PACKED_COST + 4 * 6, PACKED_COST, PACKED_COST]);
  });
});

describe('recording events', () => {
  it('counts each event once: the same again, in another order, write nothing', async () => {
    const { recorder, documents } = createRecorder();
    const events = [settled(1, now), settled(2, now - 1)];
    expect(await recordEvents(recorder, undefined, events)).toMatchObject({ counted: 2 });
    const before = documents();
    expect(await recordEvents(recorder, undefined, events.toReversed())).toMatchObject({ counted: 0 });
    expect(documents()).toBe(before);
  });

  it('says how many settlements were counted before, with the same amount and with another one', async () => {
    const { recorder } = createRecorder();
    const first = settled(1, now);
    const costing = (amount_micros: number, eventId = 'e1'): DashboardEvent => ({
      ...first,
      ...{ eventId, data: { ...first.data, amount_micros } },
    });
    const settledAgain = async (...events: DashboardEvent[]) =>
      (await recordEvents(recorder, undefined, events)).settledAgain;
    expect(await settledAgain(first, costing(1), costing(2, 'e2'))).toEqual({ alike: 1, differing: 1 });
    expect(await settledAgain(costing(1, 'e3'), costing(3, 'e3'))).toEqual({ alike: 1, differing: 1 });
    // The same event with another settlement settles nothing.
    const other = { ...first, data: { ...first.data, settlement_id: 's2', amount_micros: 5 } };
    expect(await settledAgain(other)).toEqual({ alike: 0, differing: 0 });
    expect(await settledAgain(settled(3, now))).toEqual({ alike: 0, differing: 0 });
  });

  it('asks for the starts of the runs that new events name', async () => {
    const asked: unknown[] = [];
    const { recorder } = createRecorder();
    const asking: typeof recorder = {
      ...recorder,
      knownRunStarts: async (session, runs) => {
        asked.push(...runs);
        return recorder.knownRunStarts(session, runs);
      },
    };
    await recordEvents(asking, undefined, [settled(1, now)]);
    const ofNoRun = { ...settled(3, now), data: { settlement_id: 's3', amount_micros: 1 } };
    await recordEvents(asking, undefined, [settled(1, now), settled(2, now), ofNoRun]);
    expect(asked).toEqual(['r1', 'r2'].map((runId) => ({ tenantId, runId })));
  });

  it('moves the start of a run back to an earlier event, and never forward', async () => {
    const { recorder, starts } = createRecorder(new Map(['r1', 'r2'].map((run) => [runKey(tenantId, run), now])));
    await recordEvents(recorder, undefined, [settled(1, now - 1), settled(2, now + 1), settled(3, now + 1)]);
    expect(Object.fromEntries(starts)).toEqual({ 'ws_a|r1': now - 1, 'ws_a|r2': now, 'ws_a|r3': now + 1 });
  });
});
