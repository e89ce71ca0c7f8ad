import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, provenTenantId, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { eventKey, SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import type { RunStart } from '../src/domain/run.ts';
import { planReads } from '../src/domain/read-plan.ts';
import { createChunkStore } from '../src/store/chunks/chunk.store.ts';
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

function startOf(tenantId: TenantId, runId: string, to: number): RunStart {
  return { tenantId, runId, from: undefined, to };
}

async function sizesOf(tenantId: TenantId): Promise<number[]> {
  return (await stored.find({ tenantId }).toArray()).map(({ size }) => Number(size));
}

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
      const start = startOf(tenantId, `run-${index}`, event.time);
      await withTransaction(mongo.connection, (session) => chunks.insert(session, [event], [start]));
    }

    const sizes = await sizesOf(tenantId);
    expect(sizes.length).toBeLessThan(2 * 16);
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(256);
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
      const sizes = await sizesOf(tenantId);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
      expect(sizes.length).toBeLessThan(40);
    }
  });

  it('of blocked calls, each the start of a run, leaves few chunks that do not grow without end', async () => {
    const tenantId = newTenant();
    for (let batch = 0; batch < 50; batch += 1) {
      const starts = Array.from({ length: 60 }, (_, index) => startOf(tenantId, `b${batch}-${index}`, day + batch));
      await withTransaction(mongo.connection, (session) => chunks.insert(session, [], starts));
    }
    const sizes = await sizesOf(tenantId);
    expect(sizes.length).toBeLessThan(25);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_024);
    expect(await chunks.countRunStarts(tenantId, planReads([{ start: day, end: day + 60_000 }], ['1d']))).toBe(3_000);
  });
});

describe('a chunk', () => {
  it('is of one day, and has a bounded number of events and of starts of runs', async () => {
    const tenantId = newTenant();
    const at = (index: number): number => day + (index - 1_000) * 1_000;
    const events = Array.from({ length: 5_000 }, (_, index) => settled(tenantId, at(index)));
    const starts = Array.from({ length: 3_000 }, (_, index) => startOf(tenantId, `run-${index}`, at(index)));
    await withTransaction(mongo.connection, (session) => chunks.insert(session, events, starts));
    for (const { from, to, size } of await stored.find({ tenantId }).toArray()) {
      expect(Math.floor(from.getTime() / DAY_MS)).toBe(Math.floor(to.getTime() / DAY_MS));
      expect(size).toBeLessThanOrEqual(2 * 1_024);
    }
    expect(await eventsIn(tenantId, { start: day, end: day + DAY_MS })).toHaveLength(4_000);
    expect(await chunks.countRunStarts(tenantId, planReads([{ start: day, end: day + 60_000 }], ['1d']))).toBe(60);
  });

  it('is not taken for one that has an id whose key is the same', async () => {
    const tenantId = newTenant();
    const event = settled(tenantId, day);
    await insert([event]);
    const other = settled(tenantId, day);
    const { keys } = (await stored.findOne({ tenantId }))!;
    // As if all ids had the same key.
    await insert([other]);
    await stored.updateMany({ tenantId }, { $addToSet: { keys: { $each: keys } } });
    const known = await chunks.knownIdentities(undefined, [event]);
    const { settlement_id, amount_micros } = event.data;
    expect(Object.fromEntries(known)).toEqual({
      [eventKey(event)]: amount_micros,
      [`|settlement|${tenantId}|${settlement_id}`]: amount_micros,
    });
  });
});

describe('a damaged chunk', () => {
  it('is named by what needs it, and nothing else fails', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 60 }, (_, index) => settled(tenantId, day + index, { agent_id: `a${index}` }));
    const [damaged, ...others] = events;
    await withTransaction(mongo.connection, (session) =>
      chunks.insert(session, [damaged!], [startOf(tenantId, 'run-d', day)]),
    );
    const { _id, events: packed } = (await stored.findOne({ tenantId }))!;
    const bytes = Buffer.from(packed.buffer);
    bytes[bytes.length - 6]! ^= 1;
    await stored.updateOne({ _id }, { $set: { events: bytes, marks: bytes } });
    // Meanwhile the chunks are folded.
    for (const event of others) await insert([event]);

    const named = `The document ${_id.toHexString()} of chunks can't be read: `;
    const runOf = (runId: string) => [{ tenantId, runId }];
    await expect(chunks.knownIdentities(undefined, [damaged!])).rejects.toThrow(named);
    await expect(chunks.knownRunStarts(undefined, runOf('run-d'))).rejects.toThrow(named);
    await expect(eventsIn(tenantId, { start: day, end: day + 100 })).rejects.toThrow(named);
    expect((await chunks.knownIdentities(undefined, others)).size).toBe(2 * others.length);
    expect(await chunks.knownRunStarts(undefined, runOf('run-1'))).toEqual(new Map());
    expect(await chunks.newestOfAgent(tenantId, 'a7', { start: day, end: day + 100 }, 5)).toEqual([events[7]]);
    expect((await sizesOf(tenantId)).length).toBeLessThan(2 * 16);
    expect(await stored.countDocuments({ _id })).toBe(1);
  });
});

describe('the ends of a window', () => {
  it('are read from few chunks, though every batch has an event of hours ago', async () => {
    const tenantId = newTenant();
    const start = day + 12 * 3_600_000;
    for (let minute = 0; minute < 120; minute += 1) {
      const live = Array.from({ length: 300 }, (_, index) => settled(tenantId, start + minute * 60_000 + index));
      await insert([...live, settled(tenantId, day + minute * 1_000)]);
    }
    const span = { start: start + 60 * 60_000, end: start + 65 * 60_000 };
    const read = await documentsRead(mongo.connection, async () => {
      expect(await eventsIn(tenantId, span)).toHaveLength(5 * 300);
    });
    expect(read).toBeLessThanOrEqual(15);
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
