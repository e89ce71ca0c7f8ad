import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, provenTenantId, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { eventKey, SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { planReads } from '../src/domain/read-plan.ts';
import { createChunkStore } from '../src/store/chunk.store.ts';
import { documentsRead } from './documents-read.ts';

const DAY_MS = 86_400_000;
const day = Date.parse('2026-11-22T00:00:00.000Z');
const mongo = useMongo();
const chunks = createChunkStore(mongo.connection, 2_000_000_000);
const stored = mongo.connection.collection('chunks');

beforeAll(() => ensureIndexes(Object.values(mongo.connection.models)));

const newTenant = (): TenantId => provenTenantId(newId('ws'));

let sequence = 0;
function settled(tenantId: TenantId, time: number, data: DashboardEvent['data'] = {}): DashboardEvent {
  const id = ++sequence;
  const ids = { settlement_id: `s${id}`, run_id: 'run-1', agent_id: 'planner' };
  return { tenantId, source: 'gw', eventId: `e${id}`, type: SPEND_SETTLED, time, data: { ...ids, ...data } };
}

const insert = (events: DashboardEvent[]) =>
  withTransaction(mongo.connection, (session) => chunks.insert(session, [...events], []));

async function eventsIn(tenantId: TenantId, span: TimeSpan): Promise<DashboardEvent[]> {
  const found: DashboardEvent[] = [];
  for await (const event of chunks.eventsIn(tenantId, span, ['settlement_id'])) found.push(event);
  return found.sort((a, b) => a.time - b.time);
}

describe('light traffic', () => {
  it('leaves few chunks of a day, in which everything is found that was written one by one', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 600 }, (_, index) =>
      settled(tenantId, day + ((index * 7_919) % 600) * 60_000, { run_id: `run-${index}`, agent_id: `a${index % 3}` }),
    );
    for (const [index, event] of events.entries()) {
      const { time } = event;
      const start = { tenantId, runId: `run-${index}`, from: undefined, to: time };
      await withTransaction(mongo.connection, (session) => chunks.insert(session, [event], [start]));
    }

    const counts = (await stored.find({ tenantId }).toArray()).map(({ count }) => Number(count));
    expect(counts.length).toBeLessThan(2 * 16);
    expect(Math.max(...counts)).toBeGreaterThanOrEqual(256);
    const all = { start: day, end: day + DAY_MS };
    expect((await eventsIn(tenantId, all)).map(({ data }) => data.settlement_id)).toEqual(
      events.toSorted((a, b) => a.time - b.time).map(({ data }) => data.settlement_id),
    );
    expect((await chunks.knownIdentities(undefined, events)).size).toBe(2 * events.length);
    expect(await chunks.countRunStarts(tenantId, planReads([{ start: day, end: day + 60_000 }], ['1d']))).toBe(1);
    const runs = events.map((_, index) => ({ tenantId, runId: `run-${index}` }));
    const starts = await chunks.knownRunStarts(undefined, runs);
    expect([...starts.values()].sort()).toEqual(events.map(({ time }) => time).sort());
    expect(await chunks.oldestOfRun(tenantId, 'run-17', 10)).toEqual([events[17]]);
  });

  it('of many workspaces at once folds the chunks of each', async () => {
    const tenants = Array.from({ length: 10 }, newTenant);
    for (let round = 0; round < 100; round += 1) {
      await insert(tenants.map((tenantId) => settled(tenantId, day + round)));
    }
    for (const tenantId of tenants) {
      const of = await stored.find({ tenantId }).toArray();
      expect(of.reduce((sum, { count }) => sum + Number(count), 0)).toBe(100);
      expect(of.length).toBeLessThan(40);
    }
  });
});

describe('a chunk', () => {
  it('is of one day, and has a bounded number of events', async () => {
    const tenantId = newTenant();
    await insert(Array.from({ length: 5_000 }, (_, index) => settled(tenantId, day + (index - 1_000) * 1_000)));
    for (const { from, to, count } of await stored.find({ tenantId }).toArray()) {
      expect(Math.floor(from.getTime() / DAY_MS)).toBe(Math.floor(to.getTime() / DAY_MS));
      expect(count).toBeLessThanOrEqual(1_024);
    }
    expect(await eventsIn(tenantId, { start: day, end: day + DAY_MS })).toHaveLength(4_000);
  });

  it('is not taken for one that has an id whose key is the same', async () => {
    const tenantId = newTenant();
    const event = settled(tenantId, day);
    await insert([event]);
    const other = settled(tenantId, day);
    const { keys } = (await stored.findOne({ tenantId }))!;
    // As if all ids had one key.
    await insert([other]);
    await stored.updateMany({ tenantId }, { $addToSet: { keys: { $each: keys } } });
    const known = await chunks.knownIdentities(undefined, [event]);
    expect([...known].sort()).toEqual([eventKey(event), `|settlement|${tenantId}|${event.data.settlement_id}`].sort());
  });
});

describe('the newest settlements of an agent', () => {
  it('are found among many of others by reading few chunks', async () => {
    const tenantId = newTenant();
    for (let minute = 0; minute < 50; minute += 1) {
      const lone = minute === 3 ? [settled(tenantId, day + minute * 60_000 + 5, { agent_id: 'lone' })] : [];
      const others = Array.from({ length: 300 }, (_, index) => settled(tenantId, day + minute * 60_000 + index));
      await insert([...others, ...lone]);
    }
    const span = { start: day - 60 * DAY_MS, end: day + DAY_MS };
    const read = await documentsRead(mongo.connection, async () => {
      expect(await chunks.newestOfAgent(tenantId, 'lone', span, 1)).toHaveLength(1);
      const newest = await chunks.newestOfAgent(tenantId, 'planner', span, 20);
      expect(newest.map(({ time }) => time)).toEqual(
        Array.from({ length: 20 }, (_, index) => day + 49 * 60_000 + 299 - index),
      );
    });
    expect(read).toBeLessThanOrEqual(10);
    expect(await chunks.hasAgent(tenantId, 'lone')).toBe(true);
    expect(await chunks.hasAgent(newTenant(), 'lone')).toBe(false);
  });
});

describe('a run that has more settlements than are asked for', () => {
  it('is read from its oldest chunks alone', async () => {
    const tenantId = newTenant();
    for (let minute = 0; minute < 40; minute += 1) {
      await insert(Array.from({ length: 300 }, (_, index) => settled(tenantId, day + minute * 60_000 + index)));
    }
    const read = await documentsRead(mongo.connection, async () => {
      const oldest = await chunks.oldestOfRun(tenantId, 'run-1', 500);
      expect(oldest.map(({ time }) => time)).toEqual(
        Array.from({ length: 500 }, (_, index) => day + Math.floor(index / 300) * 60_000 + (index % 300)),
      );
    });
    expect(read).toBeLessThanOrEqual(10);
  });
});
