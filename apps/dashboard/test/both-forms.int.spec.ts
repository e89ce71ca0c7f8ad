import { beforeEach, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import type { ClientSession, Connection } from 'mongoose';
import { BUDGET_BLOCKED, eventKey, GUARD_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import type { EventCursor } from '../src/domain/event.reader.ts';
import { recordEvents, type EventRecorder } from '../src/domain/record-events.ts';
import { createEarlierForm } from '../src/store/earlier.form.ts';
import { createEarlierMigration } from '../src/store/earlier.migration.ts';
import { createStores, type Stores } from '../src/store/stores.ts';
import { createEarlierCollections, createEarlierRecorder } from './earlier.recorder.ts';
import { CENTURY_SECONDS } from './recording.process.ts';

const mongo = useMongo();
const tenantId = provenTenantId('ws_1');
const all = { start: 0, end: 10_000_000 };
const AGENTS = ['planner', 'coder'];
/** Those behind the first are in another order as UTF-16 than they are in the database. */
const SOURCES = ['gw', '\u{1f600}', '\uffee'];

let connection: Connection;
/** Of this release alone. */
let current: Stores;
/** Of this release, which has begun beside what 0.1 stored. */
let stores: Stores;
beforeEach(async () => {
  connection = mongo.connection.useDb(mongo.newDatabase());
  current = createStores(connection, CENTURY_SECONDS);
  await ensureIndexes(Object.values(connection.models));
  await createEarlierCollections(connection);
  stores = createEarlierForm(connection, testLogger().logger).beside(current);
});

/** The number of events that it counts. */
async function recordBy(recorder: EventRecorder<ClientSession>, events: DashboardEvent[]): Promise<number> {
  const { counted } = await withTransaction(connection, (session) => recordEvents(recorder, session, events));
  return counted;
}
const earlier = () => createEarlierRecorder(connection);

async function migrate(): Promise<void> {
  const migration = createEarlierMigration(connection, current.recorder);
  for await (const moved of migration.move()) expect(moved).toBeLessThanOrEqual(1_000);
  await migration.drop();
}

/** Six of each time, of all sources and agents. */
function blockedEvents(count: number): DashboardEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ tenantId, source: SOURCES[index % 3]!, eventId: `e${Math.floor(index / 3) % 5}-${Math.floor(index / 15)}` },
    ...{ type: BUDGET_BLOCKED, time: 1_000_000 + Math.floor(index / 6) },
    data: { run_id: 'run-1', agent_id: AGENTS[Math.floor(index / 2) % 2]! },
  }));
}

function newestFirst(events: DashboardEvent[]): DashboardEvent[] {
  const key = (event: DashboardEvent) => Buffer.from(eventKey(event)).toString('hex');
  return events.toSorted((a, b) => b.time - a.time || (key(a) < key(b) ? 1 : -1));
}

/** All pages of a list, one behind the other. */
async function pagesOf(limit: number, subject: 'workspace' | { agentId: string } = 'workspace') {
  const listed: DashboardEvent[] = [];
  let after: EventCursor | undefined;
  for (;;) {
    const page = await stores.events.listBlocked(tenantId, BUDGET_BLOCKED, subject, all, limit, after);
    listed.push(...page);
    if (page.length < limit) return listed;
    const last = page.at(-1)!;
    after = { time: last.time, key: eventKey(last) };
  }
}

describe('the list of blocked events', () => {
  it('has page by page each event once and in its order, whichever of them 0.1 stored', async () => {
    const events = blockedEvents(200);
    await recordBy(
      earlier(),
      events.filter((_, index) => index % 7 < 3),
    );
    await recordBy(stores.recorder, events);

    for (const limit of [1, 7, 1_000]) {
      expect(await pagesOf(limit)).toEqual(newestFirst(events));
      for (const agentId of AGENTS) {
        const ofAgent = events.filter(({ data }) => data.agent_id === agentId);
        expect(await pagesOf(limit, { agentId })).toEqual(newestFirst(ofAgent));
      }
    }
  });

  it('has each event once in every answer while events are moved and others come', async () => {
    const events = blockedEvents(4_500);
    const [old, fresh] = [events.slice(0, 4_200), events.slice(4_200)];
    await recordBy(earlier(), old);
    const expected = newestFirst(old);
    let answers = 0;
    let moving = true;
    const moved = migrate().finally(() => (moving = false));
    const recorded = (async () => {
      for (let at = 0; at < fresh.length; at += 50) await recordBy(stores.recorder, fresh.slice(at, at + 50));
    })();
    while (moving) {
      // Behind those that come.
      const after = { time: fresh[0]!.time, key: '' };
      const listed = await stores.events.listBlocked(tenantId, BUDGET_BLOCKED, 'workspace', all, 5_000, after);
      expect(listed.map(eventKey)).toEqual(expected.map(eventKey));
      answers += 1;
    }
    await Promise.all([moved, recorded]);
    expect(answers).toBeGreaterThan(3);
    expect(await pagesOf(1_000)).toEqual(newestFirst(events));
  });
});

describe('an event that 0.1 stored', () => {
  const data = { run_id: 'run-1', agent_id: 'planner' };
  const base = { tenantId, source: 'gw', time: 1_000_000 };
  const settled = (eventId: string, settlement_id: string): DashboardEvent => ({
    ...{ ...base, eventId, type: SPEND_SETTLED },
    data: { ...data, settlement_id, amount_micros: 5 },
  });
  const stored: DashboardEvent[] = [
    settled('e1', 's1'),
    { ...base, eventId: 'e2', type: BUDGET_BLOCKED, data },
    { ...base, eventId: 'e3', type: GUARD_BLOCKED, data },
    { ...base, eventId: 'e4', type: 'tool.called', data: { ...data, agent_id: 'of-earlier' } },
  ];
  const again: DashboardEvent[] = [
    ...stored,
    settled('e9', 's1'),
    ...['e1', 'e4'].map((eventId) => ({ ...base, eventId, type: BUDGET_BLOCKED, data })),
    settled('e2', 's2'),
    settled('e3', 's3'),
  ];

  it('is not counted again under its id or its settlement, as whatever type it comes', async () => {
    await recordBy(earlier(), stored);
    for (const event of again) expect(await recordBy(stores.recorder, [event])).toBe(0);
    expect(await recordBy(stores.recorder, [settled('e10', 's4')])).toBe(1);
  });

  it('is not counted again when it was moved, by a service that began before and by one that begins', async () => {
    await recordBy(earlier(), stored);
    expect(await recordBy(stores.recorder, again)).toBe(0);
    await migrate();
    const later = createEarlierForm(connection, testLogger().logger).beside(current);
    for (const { recorder } of [stores, later]) {
      for (const event of again) expect(await recordBy(recorder, [event])).toBe(0);
    }
  });

  it('is found by its id, its run and its agent beside the events of this release, before it is moved and after', async () => {
    const newer = { ...stored[1]!, source: 'gw2', time: 1_000_001 };
    await recordBy(earlier(), stored);
    await recordBy(stores.recorder, [newer, { ...settled('e5', 's5'), time: 999_999 }]);
    const found = async () => ({
      newest: await stores.events.findBlocked(tenantId, BUDGET_BLOCKED, 'e2'),
      guarded: await stores.events.findBlocked(tenantId, GUARD_BLOCKED, 'e3'),
      blocked: await stores.events.listRun(tenantId, BUDGET_BLOCKED, 'run-1', 10),
      oldest: await stores.events.listRun(tenantId, SPEND_SETTLED, 'run-1', 1),
      settlements: await stores.events.listSettlements(tenantId, 'planner', all, 10),
      known: await Promise.all(['planner', 'of-earlier', 'nobody'].map((id) => stores.events.hasAgent(tenantId, id))),
    });
    const expected = {
      newest: newer,
      guarded: stored[2],
      blocked: [stored[1], newer],
      oldest: [{ ...settled('e5', 's5'), time: 999_999 }],
      settlements: [stored[0], { ...settled('e5', 's5'), time: 999_999 }],
      known: [true, true, false],
    };
    expect(await found()).toEqual(expected);
    await migrate();
    expect(await found()).toEqual(expected);
  });

  it('is moved once although this release has counted it too, because 0.1 came back in between', async () => {
    const again = [...stored, settled('e9', 's9')];
    await recordBy(current.recorder, stored);
    await recordBy(earlier(), again);
    await migrate();
    for (const { events } of [stores, current]) {
      expect(await events.listBlocked(tenantId, BUDGET_BLOCKED, 'workspace', all, 10)).toEqual([stored[1]]);
      expect(await events.listRun(tenantId, SPEND_SETTLED, 'run-1', 10)).toEqual([stored[0], settled('e9', 's9')]);
    }
  });

  it('is moved once by several migrations that move events at the same time', async () => {
    const events = blockedEvents(3_500);
    await recordBy(earlier(), events);
    await Promise.all([migrate(), migrate(), migrate()]);
    expect(await pagesOf(1_000)).toEqual(newestFirst(events));
  });
});
