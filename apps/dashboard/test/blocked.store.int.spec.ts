import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { BUDGET_BLOCKED, eventKey, GUARD_BLOCKED, type DashboardEvent } from '../src/domain/event.ts';
import { createBlockedStore } from '../src/store/blocked.store.ts';
import { documentsRead } from './documents-read.ts';

const mongo = useMongo();
const store = createBlockedStore(mongo.connection, 2_000_000_000);
const tenantId = provenTenantId('ws_1');

/** Oldest first, two of each time. */
const blocked: DashboardEvent[] = Array.from({ length: 600 }, (_, index) => ({
  tenantId,
  source: 'gw',
  eventId: `e${String(index).padStart(4, '0')}`,
  type: BUDGET_BLOCKED,
  time: 1_000_000 + Math.floor(index / 2),
  data: { agent_id: 'planner', run_id: 'run-1' },
}));
const all = { start: 0, end: 2_000_000 };

beforeAll(async () => {
  await ensureIndexes(Object.values(mongo.connection.models));
  await store.insert(undefined, blocked);
});

describe('the list of blocked events', () => {
  it('reads a page deep in it at the cost of the page', async () => {
    const after = blocked[101]!;
    const cursor = { time: after.time, key: eventKey(after) };

    const read = await documentsRead(mongo.connection, async () => {
      const page = await store.listBlocked(tenantId, BUDGET_BLOCKED, 'workspace', all, 10, cursor);
      expect(page).toEqual(blocked.slice(91, 101).toReversed());
    });

    expect(read).toBeLessThanOrEqual(12);
  });

  it('reads a page of one agent at the cost of the page, among many calls of others', async () => {
    const other = blocked[150]!;
    const lone = { ...other, eventId: 'of-another-agent', data: { ...other.data, agent_id: 'lone' } };
    await store.insert(undefined, [lone]);

    const read = await documentsRead(mongo.connection, async () => {
      expect(await store.listBlocked(tenantId, BUDGET_BLOCKED, { agentId: 'lone' }, all, 10)).toEqual([lone]);
    });

    expect(read).toBeLessThanOrEqual(2);
  });
});

/** As a tally reads them: with some of their fields and without ids. */
async function eventsIn(span: { start: number; end: number }, agentId?: string): Promise<DashboardEvent[]> {
  const found: DashboardEvent[] = [];
  for await (const event of store.eventsIn(tenantId, span, ['agent_id', 'model'], agentId)) found.push(event);
  return found.sort((a, b) => a.time - b.time);
}

describe('blocked events', () => {
  it('are read in a span of time, of all agents or of one, at the cost of those in it', async () => {
    const span = { start: 1_000_100, end: 1_000_110 };
    const inSpan = blocked.filter(({ time }) => time >= span.start && time < span.end);
    const expected = inSpan.map((event) => ({ ...event, source: '', eventId: '', data: { agent_id: 'planner' } }));

    const read = await documentsRead(mongo.connection, async () => {
      expect(await eventsIn(span)).toEqual(expected);
      expect(await eventsIn(span, 'planner')).toEqual(expected);
      expect(await eventsIn(span, 'nobody')).toEqual([]);
    });

    expect(read).toBe(2 * expected.length);
  });

  it('are found by their id, the newest of all sources, at the cost of those that have it', async () => {
    const [first] = blocked as [DashboardEvent];
    const same = ['a', '|', '\u{10ffff}'].map((source, index) => ({ ...first, source, time: 5_000_000 + index }));
    const near = ['e000', 'e00000', 'e0000:'].map((eventId) => ({ ...first, eventId, time: 9_000_000 }));
    const guarded = { ...first, source: 'guard', type: GUARD_BLOCKED, time: 9_000_000 };
    await store.insert(undefined, [...same, ...near, guarded]);

    const read = await documentsRead(mongo.connection, async () => {
      expect(await store.findBlocked(tenantId, BUDGET_BLOCKED, 'e0000')).toEqual(same[2]);
      expect(await store.findBlocked(tenantId, GUARD_BLOCKED, 'e0000')).toEqual(guarded);
      expect(await store.findBlocked(provenTenantId('ws_2'), BUDGET_BLOCKED, 'e0000')).toBeNull();
    });

    expect(read).toBe(2 * (1 + same.length + 1));
  });

  it('of a run are found among many others, oldest first, and an agent is known by one of them', async () => {
    const [first] = blocked as [DashboardEvent];
    const run = [2, 0, 1].map((time) => ({
      ...first,
      eventId: `r${time}`,
      time,
      data: { agent_id: 'one', run_id: 'r' },
    }));
    await store.insert(undefined, run);

    const read = await documentsRead(mongo.connection, async () => {
      const oldest = await store.oldestOfRun(tenantId, BUDGET_BLOCKED, 'r', 2);
      expect(oldest.map(({ time }) => time)).toEqual([0, 1]);
      expect(await store.oldestOfRun(tenantId, GUARD_BLOCKED, 'r', 2)).toEqual([]);
      expect(await store.hasAgent(tenantId, 'one')).toBe(true);
      expect(await store.hasAgent(tenantId, 'nobody')).toBe(false);
    });

    expect(read).toBeLessThanOrEqual(2 * run.length + 1);
  });
});
