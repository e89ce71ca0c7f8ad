import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId, type TimeSpan } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { BUDGET_BLOCKED, eventKey, GUARD_BLOCKED, type DashboardEvent } from '../src/domain/event.ts';
import { createTallies, sumTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { emptyTally, tallyOf } from '../src/domain/tally.ts';
import { createBlockedStore } from '../src/store/blocked.store.ts';
import { byOldest } from '../src/store/chunks/chunk.reader.ts';
import { createStores } from '../src/store/stores.ts';
import { documentsRead } from './documents-read.ts';

const mongo = useMongo();
const store = createBlockedStore(mongo.connection, 2_000_000_000);
const tenantId = provenTenantId('ws_1');

/** Oldest first, two at each time. */
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
  it.each([1, 7, 1_000])('has page by page of %d each event once and in its order', async (limit) => {
    const of = provenTenantId(`ws_pages_of_${limit}`);
    // The last two sort differently in UTF-16 than in the database.
    const sources = ['gw', '\u{1f600}', '\uffee'];
    const events = Array.from({ length: 200 }, (_, index) => ({
      ...blocked[Math.floor(index / 3)]!,
      ...{ tenantId: of, source: sources[index % 3]!, time: 1_000_000 + Math.floor(index / 6) },
    }));
    await store.insert(undefined, events);

    const listed: DashboardEvent[] = [];
    for (let page = events; page.length > 0;) {
      const last = listed.at(-1);
      const after = last && { time: last.time, key: eventKey(last) };
      page = await store.listBlocked(of, BUDGET_BLOCKED, WHOLE_WORKSPACE, all, limit, after);
      listed.push(...page);
    }

    const bytesOf = (event: DashboardEvent) => Buffer.from(eventKey(event));
    expect(listed).toEqual(events.toSorted((a, b) => b.time - a.time || Buffer.compare(bytesOf(b), bytesOf(a))));
  });

  it('reads a page deep in it at the cost of the page', async () => {
    const after = blocked[101]!;
    const cursor = { time: after.time, key: eventKey(after) };

    const read = await documentsRead(mongo.connection, async () => {
      const page = await store.listBlocked(tenantId, BUDGET_BLOCKED, WHOLE_WORKSPACE, all, 10, cursor);
      expect(page).toEqual(blocked.slice(91, 101).toReversed());
    });

    expect(read).toBeLessThanOrEqual(12);
  });

  it('reads a page of one agent at the cost of the page, among many calls of others', async () => {
    const other = blocked[150]!;
    const lone = { ...other, eventId: 'of-another-agent', data: { ...other.data, agent_id: 'lone' } };
    await store.insert(undefined, [lone]);

    const read = await documentsRead(mongo.connection, async () => {
      expect(await store.listBlocked(tenantId, BUDGET_BLOCKED, { scope: 'agent', agentId: 'lone' }, all, 10)).toEqual([
        lone,
      ]);
    });

    expect(read).toBeLessThanOrEqual(2);
  });
});

describe('blocked events', () => {
  it('are tallied by the server, which reads no document for the sums of an agent or of the workspace', async () => {
    const connection = mongo.connection.useDb(mongo.newDatabase());
    const stores = createStores(connection, 2_000_000_000);
    await ensureIndexes(Object.values(connection.models));
    const mixed = blocked.map((event, index) => ({
      ...event,
      type: index % 7 === 0 ? GUARD_BLOCKED : BUDGET_BLOCKED,
      data: {
        ...event.data,
        agent_id: index % 5 === 0 ? 'coder' : 'planner',
        ...(index % 7 !== 0 && index % 3 === 0 && { count: 1 + index }),
      },
    }));
    await withTransaction(connection, (session) => stores.recorder.insert(session, mixed, []));
    const tallies = createTallies(stores);
    const edges = [1_000_100, 1_000_107, 1_000_114, 1_000_116];
    const spans = edges.slice(1).map((end, index) => ({ start: edges[index]!, end }));
    const whole = { start: edges[0]!, end: edges.at(-1)! };
    const expected = (span: TimeSpan, agentId?: string) =>
      sumTallies(
        mixed
          .filter(
            ({ time, data }) => time >= span.start && time < span.end && data.agent_id === (agentId ?? data.agent_id),
          )
          .map((event) => tallyOf(event)),
      );

    const read = await documentsRead(connection, async () => {
      const ofWorkspace = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, spans);
      expect(ofWorkspace).toEqual(spans.map((span) => expected(span)));
      const ofCoder = await tallies.ofSpans(tenantId, { scope: 'agent', agentId: 'coder' }, spans);
      expect(ofCoder).toEqual(spans.map((span) => expected(span, 'coder')));
      expect(await tallies.ofSpans(tenantId, { scope: 'agent', agentId: 'nobody' }, [whole])).toEqual([emptyTally()]);
    });
    expect(read).toBe(0);

    const byAgent = ['coder', 'planner'].map((agentId) => [agentId, expected(whole, agentId)] as const);
    const readByAgent = await documentsRead(connection, async () => {
      expect(await tallies.byAgent(tenantId, whole)).toEqual(new Map(byAgent));
      expect(await tallies.byModel(tenantId, 'coder', whole)).toEqual(new Map());
    });
    expect(readByAgent).toBe(2 * (whole.end - whole.start));
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
      time: 6_000_000 + time,
      data: { agent_id: 'one', run_id: 'r' },
    }));
    await store.insert(undefined, run);

    const read = await documentsRead(mongo.connection, async () => {
      const oldest = await store.oldestOfRun(tenantId, BUDGET_BLOCKED, 'r', 2);
      expect(oldest.map(({ time }) => time)).toEqual([6_000_000, 6_000_001]);
      expect(await store.oldestOfRun(tenantId, GUARD_BLOCKED, 'r', 2)).toEqual([]);
      expect(await store.hasAgent(tenantId, 'one')).toBe(true);
      expect(await store.hasAgent(tenantId, 'nobody')).toBe(false);
    });

    expect(read).toBeLessThanOrEqual(run.length + 1);
  });

  it('of a run that is blocked over and over are found at the cost of those that are shown', async () => {
    const [first] = blocked as [DashboardEvent];
    const run = Array.from({ length: 100 }, (_, index) => ({
      ...{ ...first, eventId: `loop-${index}`, time: 7_000_000 + Math.floor(index / 4) },
      type: index % 2 === 0 ? GUARD_BLOCKED : BUDGET_BLOCKED,
      data: { agent_id: 'one', run_id: 'loop' },
    }));
    await store.insert(undefined, run);
    const expected = run.filter(({ type }) => type === BUDGET_BLOCKED).sort(byOldest);

    const read = await documentsRead(mongo.connection, async () => {
      expect(await store.oldestOfRun(tenantId, BUDGET_BLOCKED, 'loop', 7)).toEqual(expected.slice(0, 7));
    });

    expect(read).toBe(7);
  });
});

describe('the reasons of blocked calls', () => {
  const ofCalls = (type: string, count: number, data: DashboardEvent['data']): DashboardEvent[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ ...blocked[0]!, type, eventId: `${type} ${JSON.stringify(data)} ${index}`, time: 1_000_000 + index },
      data: { ...blocked[0]!.data, ...data },
    }));

  it('are counted in the newest events of each type only, so that an agent in a loop delays nobody', async () => {
    const connection = mongo.connection.useDb(mongo.newDatabase());
    const bounded = createBlockedStore(connection, 2_000_000_000, 100);
    await ensureIndexes(Object.values(connection.models));
    await bounded.insert(undefined, [
      ...ofCalls(GUARD_BLOCKED, 500, { guard: 'pii' }),
      ...ofCalls(BUDGET_BLOCKED, 5, { scope: 'agent', budget_id: 'bud_1', budget_name: 'Growth', count: 10 }),
    ]);
    expect(await bounded.blockedReasons(tenantId, all, 10)).toEqual([
      { by: 'guard', name: 'pii', calls: 100 },
      { by: 'budget', name: 'Growth', calls: 50 },
    ]);
    expect(await bounded.blockedReasons(tenantId, all, 1)).toHaveLength(1);
    expect(await bounded.blockedReasons(provenTenantId('ws_2'), all, 10)).toEqual([]);
    const read = await documentsRead(connection, async () => {
      await bounded.blockedReasons(tenantId, all, 10);
    });
    expect(read).toBeLessThanOrEqual(105);
  });
});
