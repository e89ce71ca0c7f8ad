import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppError } from '@tollkeeper/kernel';
import { halt } from '@tollkeeper/managed-process';
import { connectMongo, createOffsetStore, type MongoConnection } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import {
  createMongoEventLog,
  type EventLog,
  type LogConsumer,
  type LogRecord,
  type MongoEventLogOptions,
} from '../src/index.ts';
import { createEffectsHandler, EFFECTS } from './effects.consumer.ts';
import { createGroupLedger } from './group.ledger.ts';

const testMongo = useMongo();
const topic = 'payments';
const HOUR_MS = 3_600_000;

type Clocks = Pick<MongoEventLogOptions, 'clock' | 'monotonicClock'>;

interface Process {
  mongo: MongoConnection;
  log: EventLog;
}

describe('the event log in MongoDB', () => {
  const { logger } = testLogger();
  let database: string;
  let processes: Process[];
  let consumers: LogConsumer[];
  let children: ChildProcess[];
  let log: EventLog;
  let mongo: MongoConnection;

  async function openProcess(clocks: Clocks = {}): Promise<Process> {
    const opened = connectMongo({ uri: testMongo.uri, database, logger });
    createOffsetStore(opened.connection, 'effects');
    const metrics = createMetrics('test');
    const own = createMongoEventLog({
      connection: opened.connection,
      logger,
      metrics,
      leaseMs: 800,
      pollIntervalMs: 50,
      ...clocks,
    });
    await opened.start();
    await own.start();
    processes.push({ mongo: opened, log: own });
    return { mongo: opened, log: own };
  }

  async function consume(consumer: LogConsumer): Promise<LogConsumer> {
    consumers.push(consumer);
    await consumer.start();
    return consumer;
  }

  function startChild(hold = false): ChildProcess {
    const options = JSON.stringify({ uri: testMongo.uri, database, topic, hold });
    const child = fork(`${import.meta.dirname}/effects.consumer.ts`, [options]);
    children.push(child);
    return child;
  }

  async function membersAre(count: number): Promise<void> {
    const group = await mongo.connection
      .collection<{ _id: string; members: unknown[] }>('log_groups')
      .findOne({ _id: `effects/${topic}` });
    expect(group?.members).toHaveLength(count);
  }

  async function effects(): Promise<string[]> {
    const found = await mongo.connection.collection(EFFECTS).find().toArray();
    return found.map(({ value }) => String(value));
  }

  beforeEach(async () => {
    database = testMongo.newDatabase();
    processes = [];
    consumers = [];
    children = [];
    ({ log, mongo } = await openProcess());
    await log.ensureTopic({ name: topic, partitions: 2, retentionMs: HOUR_MS });
    await mongo.connection.createCollection(EFFECTS);
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    for (const opened of processes) {
      await opened.log.stop();
      await opened.mongo.stop();
    }
  });

  it('has every effect exactly once though its consumer is killed in mid-batch again and again', async () => {
    await expireTransactionsSoon(mongo);
    const records = numbered('ws', 0, 120);
    await log.append(topic, records);
    for (let kills = 0; kills < 4; kills += 1) {
      const child = startChild();
      for (let batches = 0; batches < 3; batches += 1) await once(child, 'message');
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await consume(
      log.consumer({
        group: 'effects',
        topic,
        maxRecords: 50,
        handler: createEffectsHandler(mongo.connection, 'effects'),
      }),
    );
    await eventually(async () => expect(await effects()).toHaveLength(120));
    expect((await effects()).toSorted()).toEqual(records.map(({ value }) => value.toString()).toSorted());
  });

  it('has no effect of an owner that was taken for dead and comes back in the middle of its batch', async () => {
    await log.append(topic, numbered('ws', 0, 3));
    const stale = startChild(true);
    await once(stale, 'message');
    await halt(stale.pid!);

    const handler = createEffectsHandler(mongo.connection, 'effects');
    const successor = await consume(log.consumer({ group: 'effects', topic, maxRecords: 10, handler }));
    await eventually(async () => expect(await successor.lag()).toBe(0));
    stale.send('go on');
    stale.kill('SIGCONT');

    // Both are members again, so either of the two may get what is appended now.
    await eventually(() => membersAre(2));
    await log.append(topic, numbered('ws', 3, 3));
    await eventually(async () => expect(await successor.lag()).toBe(0));
    expect((await effects()).toSorted()).toEqual(numbered('ws', 0, 6).map(({ value }) => value.toString()));
  });

  it('continues with what is left when retention has removed records that were not read', async () => {
    await log.append(topic, numbered('ws', 0, 3));
    const ledger = createGroupLedger();
    const consumer = log.consumer({ group: 'late', topic, maxRecords: 10, handler: ledger.handler() });
    await removeAsExpired(mongo);
    expect(await consumer.lag()).toBe(0);

    await log.append(topic, numbered('ws', 3, 2));
    await consume(consumer);
    await eventually(() => expect(ledger.values()).toEqual(['ws-3', 'ws-4']));
    expect(ledger.batches[0]).toMatchObject({ from: null, nextOffset: 5 });
    expect(ledger.records().map(({ offset }) => offset)).toEqual([3, 4]);
  });

  it('shows readers what a process appends that was quiet until retention removed the records of others', async () => {
    let elapsedMs = 0;
    const { log: quiet } = await openProcess({ monotonicClock: () => elapsedMs });
    const ledger = createGroupLedger();
    await consume(log.consumer({ group: 'readers', topic, maxRecords: 10, handler: ledger.handler() }));
    await quiet.append(topic, numbered('ws', 0, 1));
    await log.append(topic, numbered('ws', 1, 2));
    await eventually(() => expect(ledger.records()).toHaveLength(3));
    await removeAsExpired(mongo);

    elapsedMs += HOUR_MS;
    await quiet.append(topic, numbered('ws', 3, 1));
    await eventually(() => expect(ledger.values()).toEqual(['ws-0', 'ws-1', 'ws-2', 'ws-3']));
  });

  it('names the stalled partition, with the cause, and no other, until it gets on', async () => {
    let elapsedMs = 0;
    const { log: own } = await openProcess({ monotonicClock: () => elapsedMs });
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const ledger = createGroupLedger();
    let held = false;
    const handler = ledger.handler('member', () => {
      held = true;
      return answer;
    });
    const consumer = own.consumer({ group: 'hanging', topic, maxRecords: 10, handler });
    await consume(consumer);
    await own.append(topic, numbered('ws', 0, 1));
    await eventually(() => expect(held).toBe(true));
    await consumer.impaired?.();
    elapsedMs += 61_000;
    // There is one sentence per stalled partition, so this matches only one.
    const reason = /^partition \d of .* is stalled at offset 0 for 61 s: its handler has not answered yet$/;
    // The other partition may not have been opened before.
    await eventually(() => expect(consumer.impaired?.()).rejects.toThrow(reason));
    resolve();
    await eventually(() => consumer.impaired?.());
  });

  it('keeps records for an hour though the retention is shorter, so that no appender takes their offsets again', async () => {
    await log.ensureTopic({ name: topic, partitions: 2, retentionMs: 1 });
    const now = Date.now();
    const { log: brief } = await openProcess({ clock: () => now });
    await brief.append(topic, numbered('ws', 0, 1));
    const stored = await mongo.connection.collection('log_batches').findOne();
    expect(stored).toMatchObject({ expiresAt: new Date(now + HOUR_MS) });
  });

  it('reads a log from its beginning when the position is beyond its end, since that log is another', async () => {
    await log.append(topic, numbered('ws', 0, 2));
    const ledger = createGroupLedger(
      new Map([
        [0, 900],
        [1, 900],
      ]),
    );
    await consume(log.consumer({ group: 'restored', topic, maxRecords: 10, handler: ledger.handler() }));
    await eventually(() => expect(ledger.values()).toEqual(['ws-0', 'ws-1']));
    expect(ledger.batches[0]).toMatchObject({ from: 900, nextOffset: 2 });
  });

  it('shows records to readers that an appender stored before it died without telling of them', async () => {
    await log.append(topic, numbered('ws', 0, 2));
    const topics = mongo.connection.collection<{ _id: string; endOffsets: number[] }>('log_topics');
    await topics.updateOne({ _id: topic }, { $set: { endOffsets: [0, 0] } });
    const { log: other } = await openProcess();
    const ledger = createGroupLedger();
    await consume(other.consumer({ group: 'readers', topic, maxRecords: 10, handler: ledger.handler() }));
    await eventually(() => expect(ledger.values()).toEqual(['ws-0', 'ws-1']));
    await other.append(topic, numbered('ws', 2, 1));
    await eventually(() => expect(ledger.records().map(({ offset }) => offset)).toEqual([0, 1, 2]));
  });

  it('refuses appends with service_unavailable when too much waits, and stores exactly what it accepted', async () => {
    const appends = Array.from({ length: 60 }, (_, n) => ({ key: 'ws', value: Buffer.alloc(900_000, `${n}|`) }));
    const results = await Promise.allSettled(appends.map((record) => log.append(topic, [record])));
    const refusals = results.map((result) => (result.status === 'rejected' ? (result.reason as AppError) : null));
    for (const refusal of refusals) expect(refusal?.code ?? 'service_unavailable').toBe('service_unavailable');

    const ledger = createGroupLedger();
    const consumer = await consume(log.consumer({ group: 'g', topic, maxRecords: 10, handler: ledger.handler() }));
    await eventually(async () => expect(await consumer.lag()).toBe(0));
    const stored = ledger.values().map((value) => Number.parseInt(value, 10));
    const accepted = [...refusals.keys()].filter((n) => refusals[n] === null);
    // A busy machine may not answer in time, and store the record or not.
    const late = [...refusals.keys()].filter((n) => refusals[n]?.retryAfterSeconds === 5);
    expect(accepted.length + late.length).toBeLessThan(appends.length);
    expect(stored.filter((n) => !late.includes(n)).toSorted((one, two) => one - two)).toEqual(accepted);
    expect(new Set(stored).size).toBe(stored.length);
  });

  it('refuses appends with service_unavailable when the database is down', async () => {
    const { log: cut, mongo: away } = await openProcess();
    await cut.append(topic, numbered('ws', 0, 1));
    await away.stop();
    await expect(cut.append(topic, numbered('ws', 1, 1))).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(cut.append('other', numbered('ws', 1, 1))).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

function numbered(key: string, first: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, n) => ({ key, value: Buffer.from(`${key}-${first + n}`) }));
}

/** A killed process leaves its transaction open; by default, the server ends it after a minute. */
async function expireTransactionsSoon({ connection }: MongoConnection): Promise<void> {
  await connection.getClient().db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 1 });
}

/** Removes everything that was appended, as the server's TTL monitor eventually does by the log's index. */
async function removeAsExpired({ connection }: MongoConnection): Promise<void> {
  const batches = connection.collection('log_batches');
  expect(await batches.indexes()).toContainEqual(
    expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }),
  );
  await batches.deleteMany({ expiresAt: { $lt: new Date(Date.now() + 2 * HOUR_MS) } });
  expect(await batches.countDocuments()).toBe(0);
}
