import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Connection } from 'mongoose';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useBreakableMongo } from '@tollkeeper/testing';
import { identitiesOf } from '../src/domain/event.ts';
import { createTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { createStores, type Stores } from '../src/store/stores.ts';
import { CENTURY_SECONDS, eventAt, START, TENANTS } from './recording.process.ts';
import { referenceOf } from './reference.ts';
import { storedEvents } from './stored.events.ts';

const EVENTS = 500;
const DAY_MS = 86_400_000;
const mongo = useBreakableMongo();
afterAll(() => mongo.stop());

/** Processes that record the same log into the same database. A killed one is replaced. */
function startRecorders(database: string, number: number) {
  const reached = { position: 0 };
  const running = new Set<ChildProcess>();
  let killed = 0;
  function start(): void {
    const child = fork(`${import.meta.dirname}/recording.process.ts`, [mongo.uri, database, String(EVENTS)]);
    running.add(child);
    child.on('message', (message) => {
      if (typeof message === 'number') reached.position = Math.max(reached.position, message);
    });
    child.on('exit', (code) => {
      running.delete(child);
      if (code !== 0) start();
    });
  }
  for (let index = 0; index < number; index += 1) start();
  return {
    reached,
    kill(): void {
      [...running][killed++ % running.size]?.kill('SIGKILL');
    },
    async ended(): Promise<void> {
      while (running.size > 0) await Promise.race([...running].map((child) => once(child, 'exit')));
    },
  };
}

type Database = Stores & { connection: Connection };

async function newDatabase(): Promise<Database> {
  const connection = mongo.connection.useDb(mongo.newDatabase());
  const stores = createStores(connection, CENTURY_SECONDS);
  await ensureIndexes(Object.values(connection.models));
  return { ...stores, connection };
}

/** Each event is stored exactly once, and every query agrees. */
async function expectAll({ connection, recorder, tallies: all, runStarts }: Database): Promise<void> {
  const log = Array.from({ length: EVENTS }, (_, index) => eventAt(index));
  const distinct = new Set(log.map(({ eventId }) => eventId));
  expect(await storedEvents(connection)).toBe(distinct.size);
  // No batch is this large, so these chunks are folds. Without folds, the crashes would prove less.
  expect(await connection.collection('chunks').countDocuments({ size: { $gte: 16 } })).toBeGreaterThan(0);
  // The first store reads roll-ups.
  const [withRollups, rawAlone] = [0, 1].map((first) =>
    createTallies({ tallies: all.slice(first), runStarts: runStarts.slice(first) }),
  );
  const reference = referenceOf(log);
  const whole = { start: START - 2 * DAY_MS, end: START + 3 * DAY_MS };
  // So short that it is read from raw events.
  const short = { start: START + 7_000_000, end: START + 7_000_000 + 3 * 60_000 };
  for (const tenantId of TENANTS) {
    for (const [tallies, span] of [
      [withRollups!, whole],
      [withRollups!, short],
      [rawAlone!, short],
    ] as const) {
      const expected = reference(tenantId, span);
      expect(await tallies.byAgent(tenantId, span)).toEqual(expected.byAgent);
      expect(await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span])).toEqual([expected.total]);
      expect(await tallies.runsStarted(tenantId, span)).toBe(expected.runsStarted);
    }
  }
  const known = await withTransaction(connection, (session) => recorder.knownIdentities(session, log));
  expect(new Set(known.keys())).toEqual(new Set(log.flatMap(identitiesOf)));
}

describe('each event is counted once', () => {
  it('though processes that record and fold side by side are killed again and again', async () => {
    const database = await newDatabase();
    const recorders = startRecorders(database.connection.name, 2);
    for (let at = 50; at < EVENTS; at += 100) {
      while (recorders.reached.position < at) await delay(5);
      recorders.kill();
    }
    await recorders.ended();
    await expectAll(database);
  });

  it('though the database is killed in the middle of batches and folds', async () => {
    const database = await newDatabase();
    const recorders = startRecorders(database.connection.name, 1);
    for (let at = 75; at < EVENTS; at += 175) {
      while (recorders.reached.position < at) await delay(5);
      await mongo.kill();
      await mongo.restart();
    }
    await recorders.ended();
    await expectAll(database);
  });
});
