import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createOffsetStore, ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { mongo as driver, type Connection } from 'mongoose';
import { BUDGET_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { createTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { byNewest } from '../src/store/chunks/chunk.reader.ts';
import { createStores } from '../src/store/stores.ts';
import { CENTURY_SECONDS } from './recording.process.ts';
import { referenceOf } from './reference.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-20T00:00:00.000Z');
const tenantId = provenTenantId('ws_1');
const mongo = useMongo();

class Ended extends Error {}

/** How many more statements succeed. The next one fails, as if the process crashed before it. */
let passing = Infinity;
const statements: object = driver.Collection.prototype;
const NAMES = ['find', 'findOne', 'insertMany', 'deleteMany', 'bulkWrite', 'updateOne'];
const originals = new Map<string, unknown>(NAMES.map((name) => [name, Reflect.get(statements, name)]));
beforeAll(() => {
  for (const [name, original] of originals) {
    if (typeof original !== 'function') throw new Error(`the driver has no statement ${name}`);
    const passOrEnd = function (this: unknown, ...args: unknown[]): unknown {
      passing -= 1;
      if (passing < 0) throw new Ended(name);
      return Reflect.apply(original, this, args);
    };
    Reflect.set(statements, name, passOrEnd);
  }
});
afterAll(() => void Object.assign(statements, Object.fromEntries(originals)));

/** Whether the work finished before statement number `number`. */
async function endedBefore(number: number, work: () => Promise<unknown>): Promise<boolean> {
  passing = number - 1;
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return false;
  } finally {
    passing = Infinity;
  }
}

function newDatabase(): Connection {
  return mongo.connection.useDb(mongo.newDatabase());
}

async function contentOf(database: Connection): Promise<unknown> {
  const names = ['chunks', 'blocked_events', 'rollups', 'names', 'consumer_offsets'];
  return Promise.all(names.map((name) => database.collection(name).find({}).sort({ _id: 1 }).toArray()));
}

let sequence = 0;
function eventAt(time: number, type = SPEND_SETTLED, run = `run-${sequence}`): DashboardEvent {
  const number = ++sequence;
  const ids = { run_id: run, agent_id: `agent-${number % 3}` };
  const spent = { settlement_id: `s${number}`, amount_micros: number, ...(number % 2 ? { model: 'm' } : {}) };
  const data = type === SPEND_SETTLED ? { ...ids, ...spent } : ids;
  return { tenantId, source: 'gw', eventId: `e${number}`, type, time, data };
}

describe('a batch that folds', () => {
  it('leaves nothing when it ends in front of any of its statements, and all when it does not', async () => {
    const database = newDatabase();
    const place = { topic: 'log', partition: 0 };
    const log: DashboardEvent[] = [];
    let folded = 0;
    for (let number = 1; ; number += 1) {
      // The stores of a process that has just started.
      const connection = mongo.connection.useDb(database.name, { useCache: false });
      const offsets = createOffsetStore(connection, 'group');
      const { recorder } = createStores(connection, CENTURY_SECONDS);
      await ensureIndexes(Object.values(connection.models));
      const record = (batch: DashboardEvent[]) =>
        withTransaction(connection, async (session) => {
          const from = log.length === 0 ? null : log.length;
          await offsets.advance(session, { ...place, from, to: log.length + batch.length });
          await recordEvents(recorder, session, batch);
        });
      for (let small = 0; small < 15; small += 1) {
        const batch = [eventAt(START + DAY_MS / 2 + log.length)];
        await record(batch);
        log.push(...batch);
      }
      // A late event of a known run, an event that was counted, a blocked one, and another workspace's day.
      const late = eventAt(START + 5, SPEND_SETTLED, log[0]!.data.run_id);
      const batch = [late, log[1]!, eventAt(START + 9, BUDGET_BLOCKED), eventAt(START + DAY_MS)];
      const before = await contentOf(database);
      const done = await endedBefore(number, () => record(batch));
      if (!done) {
        expect(await contentOf(database)).toEqual(before);
        continue;
      }
      log.push(...batch);
      expect(number).toBeGreaterThan(12);
      folded = Math.max(...(await database.collection('chunks').find({}).toArray()).map(({ size }) => Number(size)));
      break;
    }
    expect(folded).toBeGreaterThan(100);
    await expectExact(database, log);
  });
});

/** Compares all sums over the log, and the list of blocked events. */
async function expectExact(database: Connection, log: DashboardEvent[]): Promise<void> {
  const connection = mongo.connection.useDb(database.name, { useCache: false });
  const stores = createStores(connection, CENTURY_SECONDS);
  const tallies = createTallies(stores);
  const all = { start: START - DAY_MS, end: START + 5 * DAY_MS };
  const blocked = log.filter(({ type }) => type === BUDGET_BLOCKED).sort(byNewest);
  expect(await stores.events.listBlocked(tenantId, BUDGET_BLOCKED, WHOLE_WORKSPACE, all, 1_000)).toEqual(blocked);
  const reference = referenceOf(log);
  const spans = [
    all,
    { start: START + 3, end: START + DAY_MS + 7 * 3_600_000 + 12_345 },
    { start: START + DAY_MS / 2 + 5, end: START + DAY_MS / 2 + 100_000 },
  ];
  for (const span of spans) {
    const expected = reference(tenantId, span);
    expect(await tallies.byAgent(tenantId, span)).toEqual(expected.byAgent);
    expect(await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span])).toEqual([expected.total]);
    expect(await tallies.byModel(tenantId, 'agent-1', span)).toEqual(expected.byModel('agent-1'));
    expect(await tallies.runsStarted(tenantId, span)).toBe(expected.runsStarted);
  }
}
