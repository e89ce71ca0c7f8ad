import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { createOutbox, type LogRecord, observeOutboxes } from '../src/index.ts';

const { uri, database } = useMongo();
const { logger } = testLogger();
const metrics = createMetrics('test');
const mongo = connectMongo({ uri, database, logger });
const { connection } = mongo;
const clock = { now: 1_000_000 };

/** A log whose appends can fail, or stop half way. */
function createLog() {
  const appended: LogRecord[] = [];
  const state = { isDown: false, failsBehind: false };
  return {
    appended,
    state,
    texts: () => appended.map(({ value }) => value.toString()),
    ensureTopic: async () => undefined,
    async append(_topic: string, records: readonly LogRecord[]) {
      if (state.isDown) throw new Error('the log is away');
      appended.push(...records);
      if (state.failsBehind) throw new Error('the answer was lost');
    },
  };
}

function createPair(name: string) {
  const log = createLog();
  const topic = { name, partitions: 1, retentionMs: 1_000 };
  const options = { topic, collection: name, connection, logger, intervalMs: 5, clock: () => clock.now };
  return { log, outbox: createOutbox({ ...options, eventLog: log }) };
}

const idle = createPair('idle');
const rolledBack = createPair('rolled-back');
const away = createPair('away');
const unsure = createPair('unsure');
const large = createPair('large');
const many = createPair('many');
const traced = createPair('traced');
const all = [idle, rolledBack, away, unsure, large, many, traced];
observeOutboxes({ metrics, logger, clock: () => clock.now }, [idle.outbox, away.outbox]);

const record = (id: string, value = Buffer.from(id)) => ({ id, key: 'ws', value, trace: undefined });
const add = ({ outbox }: typeof idle, ...records: ReturnType<typeof record>[]) =>
  withTransaction(connection, (session) => outbox.add(session, records));

beforeAll(() => mongo.start());
afterAll(async () => {
  for (const { outbox } of all) await outbox.stop();
  await mongo.stop();
});

describe('an outbox', () => {
  it('moves what a committed transaction added, in its order, and keeps nothing', async () => {
    await idle.outbox.start();
    await add(idle, record('a'), record('b'));
    await add(idle, record('c'));
    await eventually(() => expect(idle.log.texts()).toEqual(['a', 'b', 'c']));
    await eventually(async () => expect(await idle.outbox.depth()).toBe(0));
  });

  it('moves nothing of a transaction that did not commit', async () => {
    await rolledBack.outbox.start();
    const failing = withTransaction(connection, async (session) => {
      await rolledBack.outbox.add(session, [record('lost')]);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    await add(rolledBack, record('kept'));
    await eventually(() => expect(rolledBack.log.texts()).toEqual(['kept']));
  });

  it('keeps what the log does not take, shows how much and how old it is, and moves it once the log is back', async () => {
    away.log.state.isDown = true;
    await add(away, record('a'), record('b'));
    await away.outbox.start();
    clock.now += 90_000;
    const page = await metrics.registry.metrics();
    expect(page).toMatch(/^outbox_depth\{topic="away",service="test"\} 2$/m);
    expect(page).toMatch(/^outbox_oldest_age_seconds\{topic="away",service="test"\} 90$/m);
    expect(page).toMatch(/^outbox_oldest_age_seconds\{topic="idle",service="test"\} 0$/m);
    away.log.state.isDown = false;
    await eventually(() => expect(away.log.texts()).toEqual(['a', 'b']));
  });

  it('appends again what the log may not have', async () => {
    unsure.log.state.failsBehind = true;
    await add(unsure, record('a'));
    await unsure.outbox.start();
    await eventually(() => expect(unsure.log.texts().length).toBeGreaterThan(1));
    unsure.log.state.failsBehind = false;
    await eventually(async () => expect(await unsure.outbox.depth()).toBe(0));
    expect(new Set(unsure.log.texts())).toEqual(new Set(['a']));
  });

  it('moves records that are large together one after the other', async () => {
    const values = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => Buffer.alloc(900_000, letter));
    for (const [index, value] of values.entries()) await add(large, record(String(index), value));
    await large.outbox.start();
    await eventually(() => expect(large.log.texts().map((text) => text[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f']));
  });

  it('moves more than it takes at a time without a pause between', async () => {
    const records = Array.from({ length: 1_200 }, (_, index) => record(String(index)));
    await add(many, ...records);
    await many.outbox.start();
    await eventually(() => expect(many.log.texts()).toEqual(records.map(({ id }) => id)));
  });

  it('hands the trace on that a record came with', async () => {
    await add(traced, { ...record('a'), trace: { traceparent: '00-a-b-01' } as never }, record('b'));
    await traced.outbox.start();
    await eventually(() => expect(traced.log.appended).toHaveLength(2));
    expect(traced.log.appended.map(({ headers }) => headers)).toEqual([{ traceparent: '00-a-b-01' }, undefined]);
  });
});
