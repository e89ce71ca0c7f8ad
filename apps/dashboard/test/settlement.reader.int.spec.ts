import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { UNLIMITED } from '../src/domain/reads.ts';
import type { SettlementPage, SettlementPlace } from '../src/domain/settlement.page.ts';
import { createChunkCollection, createFindChunks, type FindChunks } from '../src/store/chunks/chunk.collection.ts';
import { createChunkWriter } from '../src/store/chunks/chunk.writer.ts';
import { createSettlementReader } from '../src/store/chunks/settlement.reader.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const day = Date.parse('2026-11-22T00:00:00.000Z');
const { connection } = useMongo();
const chunks = createChunkCollection(connection, 2_000_000_000);
const find = createFindChunks(connection, chunks);
const writer = createChunkWriter(chunks, find);

beforeAll(() => ensureIndexes(Object.values(connection.models)));

const newTenant = (): TenantId => provenTenantId(newId('ws'));
const insert = (events: readonly DashboardEvent[]) =>
  withTransaction(connection, (session) => writer.insert(session, [...events], []));

let sequence = 0;
function settled(tenantId: TenantId, time: number, data: DashboardEvent['data'] = {}): DashboardEvent {
  const id = ++sequence;
  const known = { settlement_id: `s${id}`, run_id: `r${id}`, agent_id: 'planner', amount_micros: id };
  return { tenantId, source: 'gw', eventId: `e${id}`, type: SPEND_SETTLED, time, data: { ...known, ...data } };
}
const idsOf = (events: readonly DashboardEvent[]) => events.map(({ data }) => data.settlement_id!);

/** All pages of a pass. `between` runs before each page but the first. */
async function pagesOf(
  tenantId: TenantId,
  span: { from: number; until: number },
  { limits, read = find, between }: { limits?: Limits; read?: FindChunks; between?: () => Promise<unknown> } = {},
): Promise<SettlementPage[]> {
  const reader = createSettlementReader({ connection, chunks, find: read }, limits);
  const pages: SettlementPage[] = [];
  for (let place: SettlementPlace | null = { time: span.from, after: '' }; place !== null;) {
    if (pages.length > 0) await between?.();
    const page: SettlementPage = await reader.settlementsFrom(tenantId, place, span.until, UNLIMITED);
    pages.push(page);
    place = page.next;
  }
  return pages;
}
type Limits = Parameters<typeof createSettlementReader>[1];

/** A generator of pseudorandom integers below a limit. */
function randomsOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** Bursts in one millisecond, dense minutes, and lone events of three days, in any order of arrival. */
function traffic(tenantId: TenantId, random: (below: number) => number, count: number): DashboardEvent[] {
  const bursts = Array.from({ length: 3 }, () => day + random(3 * DAY_MS));
  return Array.from({ length: count }, () => {
    const burst = bursts[random(bursts.length)]!;
    const time = [burst, burst + random(MINUTE_MS), day + random(3 * DAY_MS)][random(3)]!;
    const event = settled(tenantId, time, random(3) === 0 ? { labels: { team: 'x'.repeat(1 + random(128)) } } : {});
    return random(10) === 0 ? { ...event, type: 'tool.called' } : event;
  });
}

describe('a pass over the settlements of a workspace', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'has each earlier one once, and none twice, while chunks fold and others arrive (seed %d)',
    async (seed) => {
      const random = randomsOf(seed);
      const [tenantId, other] = [newTenant(), newTenant()];
      const events = traffic(tenantId, random, 900);
      const write = async (batch: DashboardEvent[]): Promise<void> => {
        await insert(batch);
        await insert(batch.map((event) => ({ ...event, tenantId: other })));
      };
      let stored = 0;
      const writeSome = (below: number) => write(events.slice(stored, (stored += 1 + random(below))));
      while (stored < 600) await writeSome(20);
      const before = events.slice(0, stored);
      const chunksBefore = (await chunks.find({ tenantId }).toArray()).map(({ _id }) => _id);

      const span = { from: day + random(DAY_MS), until: day + 2 * DAY_MS + random(DAY_MS) };
      const limits = {
        settlements: 1 + random(30),
        bytes: 500 + random(4_000),
        readBytes: 1 + random(20_000),
        spans: 1 + random(9),
      };
      const between = async () => (stored < events.length ? writeSome(6) : undefined);
      const pages = await pagesOf(tenantId, span, { limits, between });

      const read = pages.flatMap(({ settlements }) => settlements);
      const isAsked = ({ type, time }: DashboardEvent) =>
        type === SPEND_SETTLED && time >= span.from && time < span.until;
      const ids = idsOf(read);
      expect(new Set(ids).size).toBe(ids.length);
      expect(idsOf(before.filter(isAsked)).filter((id) => !ids.includes(id))).toEqual([]);
      expect(ids.filter((id) => !idsOf(events.filter(isAsked)).includes(id))).toEqual([]);
      expect(read.every((event) => event.tenantId === tenantId)).toBe(true);
      // What a page says about the time before its end is true.
      let seen = new Set<string>();
      for (const { settlements, next } of pages) {
        expect(settlements.length).toBeLessThanOrEqual(limits.settlements);
        seen = new Set([...seen, ...idsOf(settlements)]);
        const earlier = before.filter((event) => isAsked(event) && event.time < (next?.time ?? span.until));
        expect(idsOf(earlier).filter((id) => !seen.has(id))).toEqual([]);
      }
      // Otherwise nothing was folded meanwhile.
      expect(await chunks.countDocuments({ _id: { $in: chunksBefore } })).toBeLessThan(chunksBefore.length);
    },
  );

  it('has those of a single millisecond that fill many pages', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 2_500 }, () => settled(tenantId, day + 5));
    for (let at = 0; at < events.length; at += 500) await insert(events.slice(at, at + 500));
    const pages = await pagesOf(tenantId, { from: day, until: day + DAY_MS });
    expect(pages.map(({ settlements }) => settlements.length)).toEqual([400, 400, 400, 400, 400, 400, 100]);
    expect(new Set(idsOf(pages.flatMap(({ settlements }) => settlements))).size).toBe(2_500);
  });

  it('reads each chunk of a dense hour a few times, not once for each page', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 12_000 }, (_, index) => settled(tenantId, day + index * 300));
    for (let at = 0; at < events.length; at += 300) await insert(events.slice(at, at + 300));
    let chunksRead = 0;
    const counting: FindChunks = async function* (...args) {
      for await (const chunk of find(...args)) {
        chunksRead += 1;
        yield chunk;
      }
    };
    const pages = await pagesOf(tenantId, { from: day, until: day + DAY_MS }, { read: counting });
    expect(idsOf(pages.flatMap(({ settlements }) => settlements))).toEqual(idsOf(events));
    expect(pages.length).toBeLessThanOrEqual(31);
    expect(chunksRead).toBeLessThan(8 * pages.length);
  });

  it('puts many days with few settlements each on one page', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 40 }, (_, index) =>
      settled(tenantId, day - 400 * DAY_MS + index * 10 * DAY_MS),
    );
    for (const event of events) await insert([event]);
    const pages = await pagesOf(tenantId, { from: day - 400 * DAY_MS, until: day });
    expect(pages.map(({ settlements }) => idsOf(settlements))).toEqual([idsOf(events)]);
  });

  it('ends at its bound however many other events there are, and reads a bounded part of them for a page', async () => {
    const tenantId = newTenant();
    const others = Array.from({ length: 9_000 }, (_, index) => ({
      ...settled(tenantId, day + index * 300),
      type: 'tool.called',
    }));
    for (let at = 0; at < others.length; at += 300) await insert(others.slice(at, at + 300));
    const [last] = [settled(tenantId, day + HOUR_MS - 1)];
    await insert([last]);
    const limits = { settlements: 400, bytes: 1_000_000, readBytes: 5_000, spans: 200 };
    const pages = await pagesOf(tenantId, { from: day, until: day + HOUR_MS }, { limits });
    expect(pages.length).toBeGreaterThan(3);
    expect(pages.flatMap(({ settlements }) => idsOf(settlements))).toEqual(idsOf([last]));
  });
});
