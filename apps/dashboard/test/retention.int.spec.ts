import { beforeAll, describe, expect, it } from '@jest/globals';
import { comparedSpan, provenTenantId, RANGE_KINDS, resolveRange } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { dashboardConfig } from '../src/config.ts';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { seriesOf } from '../src/domain/series.ts';
import { createTallies, sumTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { MAX_CUSTOM_DAYS, MAX_CUSTOM_MS } from '../src/http/window.ts';
import { createStores } from '../src/store/stores.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const tenantId = provenTenantId('ws_1');
const retention = dashboardConfig.shape.RETENTION_SECONDS;

const mongo = useMongo();
const retentionSeconds = retention.parse(undefined);
const stores = createStores(mongo.connection, retentionSeconds);
const tallies = createTallies(stores);

beforeAll(() => ensureIndexes(Object.values(mongo.connection.models)));

/** How long the documents of a collection are kept, and after which of their times. */
async function lifeOf(collection: string): Promise<{ field: string; keptMs: number }> {
  const indexes = await mongo.connection.collection(collection).indexes();
  const { key, expireAfterSeconds } = indexes.find((index) => index.expireAfterSeconds !== undefined)!;
  return { field: Object.keys(key)[0]!, keptMs: expireAfterSeconds! * 1000 };
}

/** Expires documents as the server does once a minute by its own clock. */
async function expire(collection: string, now: number): Promise<void> {
  const { field, keptMs } = await lifeOf(collection);
  await mongo.connection.collection(collection).deleteMany({ [field]: { $lt: new Date(now - keptMs) } });
}

/**
 * How far back spans reach at most over eight years: the ranges, without `last_quarter`, whose lists may be incomplete,
 * and what any span is compared with.
 */
function longestReach(): { range: number; previous: number } {
  const reach = { range: 0, previous: 2 * MAX_CUSTOM_MS };
  const first = Date.parse('2026-01-01T11:59:59.999Z');
  for (let now = first; now < first + 8 * 366 * DAY_MS; now += DAY_MS) {
    for (const zone of ['UTC', 'Europe/Berlin', 'Pacific/Chatham', 'Australia/Lord_Howe']) {
      for (const kind of RANGE_KINDS) {
        const window = resolveRange(kind, zone, now);
        if (kind !== 'last_quarter') reach.range = Math.max(reach.range, now - window.start);
        const justBefore = window.start - (window.end - window.start);
        reach.previous = Math.max(reach.previous, now - Math.min(justBefore, comparedSpan(window).start));
      }
    }
  }
  return reach;
}

describe('with the least retention that can be set', () => {
  it('raw events and runs outlast every range but last_quarter, and roll-ups what any span is compared with', async () => {
    expect(() => retention.parse(String(retentionSeconds - 1))).toThrow();
    const { range, previous } = longestReach();
    expect((await lifeOf('blocked_events')).keptMs).toBeGreaterThan(range + DAY_MS);
    expect((await lifeOf('chunks')).keptMs).toBeGreaterThan(range + DAY_MS);
    expect((await lifeOf('rollups')).keptMs).toBeGreaterThanOrEqual(previous + DAY_MS);
  });

  it('the models of roll-ups outlast all roll-ups that have only their hashes', async () => {
    const of = provenTenantId('ws_models');
    const time = Date.parse('2026-11-22T23:20:00.000Z');
    const settled = Array.from({ length: 900 }, (_, index): DashboardEvent => {
      const model = `model-${index}`;
      const data = { run_id: 'run-1', agent_id: 'planner', settlement_id: `s${index}`, amount_micros: 1, model };
      return { tenantId: of, source: 'gw', eventId: `e${index}`, type: SPEND_SETTLED, time, data };
    });
    await withTransaction(mongo.connection, (session) => recordEvents(stores.recorder, session, settled));
    const hour = Math.floor(time / HOUR_MS) * HOUR_MS;
    // Quarters of an hour exist only in the roll-up of the hour.
    const quarters = { start: hour - 0.75 * HOUR_MS, end: hour + 0.75 * HOUR_MS };
    const { keptMs } = await lifeOf('rollups');
    for (const collection of ['rollups', 'names']) await expire(collection, hour + keptMs);

    const models = await tallies.byModel(of, 'planner', quarters);

    expect([...models.keys()].sort()).toEqual(settled.map(({ data }) => data.model).sort());
  });

  it.each([1, 8])(
    'agents, models and series of %d hours whose events have been removed add up to all of its spend',
    async (hours) => {
      const of = provenTenantId(`ws_removed_${hours}`);
      const number = 12 * hours;
      const start = Date.parse('2026-06-15T10:15:00.000Z');
      const window = {
        kind: 'custom',
        start,
        end: start + hours * HOUR_MS,
        timezone: 'UTC',
        eventsFrom: Infinity,
      } as const;
      const settled = Array.from({ length: number }, (_, index): DashboardEvent => {
        const data = { run_id: 'run-1', agent_id: 'planner', settlement_id: `r${index}`, amount_micros: 1, model: 'm' };
        const time = start + 5 * index * MINUTE_MS;
        return { tenantId: of, source: 'gw', eventId: `r${index}`, type: SPEND_SETTLED, time, data };
      });
      await withTransaction(mongo.connection, (session) => recordEvents(stores.recorder, session, settled));
      for (const collection of ['blocked_events', 'chunks']) await expire(collection, start + 200 * DAY_MS);

      const { points } = seriesOf(window);
      const totals = await tallies.ofSpans(of, WHOLE_WORKSPACE, points);
      const groups = (await tallies.breakdown(of, { by: 'agent' }, points, 1)).groups;
      expect(sumTallies(totals).totalMicros).toBe(number);
      expect(groups.map(({ total }) => total.totalMicros)).toEqual([number]);
      expect((await tallies.byAgent(of, window)).get('planner')?.totalMicros).toBe(number);
      expect((await tallies.byModel(of, 'planner', window)).size).toBe(1);
      expect(await tallies.runsStarted(of, window)).toBe(1);
    },
  );

  it('the longest span and the one before it are answered from roll-ups of days alone', async () => {
    const of = provenTenantId('ws_longest');
    // Near the present, because the server also expires documents, by its own clock.
    const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const window = { kind: 'custom', start: end - MAX_CUSTOM_DAYS * DAY_MS, end, timezone: 'UTC' } as const;
    const before = comparedSpan(window);
    expect(before).toEqual({ start: end - 2 * MAX_CUSTOM_DAYS * DAY_MS, end: window.start });
    const times = [before.start, before.end - 1, window.start, window.start + 9.5 * DAY_MS, end - 1];
    const settled = times.map((time, index): DashboardEvent => {
      const data = { run_id: 'run-1', agent_id: 'planner', settlement_id: `l${index}`, amount_micros: 1 };
      return { tenantId: of, source: 'gw', eventId: `l${index}`, type: SPEND_SETTLED, time, data };
    });
    await withTransaction(mongo.connection, (session) => recordEvents(stores.recorder, session, settled));
    await mongo.connection.collection('chunks').deleteMany({ tenantId: of });
    await mongo.connection.collection<{ _id: string }>('rollups').deleteMany({ _id: /^ws_longest\|hour\|/ });

    const found = await tallies.ofSpans(of, WHOLE_WORKSPACE, [before, window]);

    expect(found.map(({ settlements }) => settlements)).toEqual([2, 3]);
    expect((await tallies.byAgent(of, window)).get('planner')?.settlements).toBe(3);
  });

  it('the span before 3m is whole from its first whole minute on, and 3m is whole', async () => {
    // Half past a minute near the present, because the server also expires documents, by its own clock.
    const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS / 2;
    const window = resolveRange('3m', 'UTC', now);
    const before = { start: window.start - (window.end - window.start), end: window.start };
    const firstMinute = before.start + MINUTE_MS / 2;
    const inFirstMinute = [before.start, firstMinute - 1];
    const counted = [firstMinute, firstMinute + 40 * DAY_MS + 1, before.end - 1];
    const inWindow = [window.start, now - 1];
    const settled = [...inFirstMinute, ...counted, ...inWindow].map((time, index): DashboardEvent => {
      const data = { run_id: 'run-1', agent_id: 'planner', settlement_id: `s${index}`, amount_micros: 1 };
      return { tenantId, source: 'gw', eventId: `e${index}`, type: SPEND_SETTLED, time, data };
    });
    await withTransaction(mongo.connection, (session) => recordEvents(stores.recorder, session, settled));
    for (const collection of ['blocked_events', 'chunks', 'rollups']) await expire(collection, now);

    const found = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [before, window]);

    expect(found.map(({ settlements }) => settlements)).toEqual([counted.length, inWindow.length]);
  });
});
