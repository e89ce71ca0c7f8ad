import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type KafkaBroker, startKafka } from '@tollkeeper/embedded-kafka';
import { halt } from '@tollkeeper/managed-process';
import { connectMongo, createOffsetStore, type MongoConnection } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import kafkajs from 'kafkajs';
import { createKafkaEventLog, type EventLog, type LogConsumer, type LogRecord } from '../src/index.ts';
import { createEffectsHandler, EFFECTS } from './effects.consumer.ts';
import { createGroupLedger } from './group.ledger.ts';

const testMongo = useMongo();
const HOUR_MS = 3_600_000;
/** Long enough for the group to consider a dead member dead, or for a JVM to start. */

describe('the event log on Apache Kafka', () => {
  const { logger } = testLogger();
  let dataDirectory: string;
  let kafka: KafkaBroker;
  let topic: string;
  let logs: EventLog[];
  let consumers: LogConsumer[];
  let children: ChildProcess[];
  let log: EventLog;
  let mongo: MongoConnection;

  async function openLog(): Promise<EventLog> {
    const opened = createKafkaEventLog({
      brokers: [kafka.brokers],
      clientId: 'faults',
      replicationFactor: 1,
      logger,
      metrics: createMetrics('test'),
      sessionTimeoutMs: 2_000,
    });
    await opened.start();
    logs.push(opened);
    return opened;
  }

  async function consume(consumer: LogConsumer): Promise<LogConsumer> {
    consumers.push(consumer);
    await consumer.start();
    return consumer;
  }

  /** A consumer with effects in MongoDB, like those of services. */
  function effectsConsumer(on: EventLog): LogConsumer {
    const handler = createEffectsHandler(mongo.connection, 'effects');
    return on.consumer({ group: 'effects', topic, maxRecords: 50, handler });
  }

  function startChild(hold = false): ChildProcess {
    const { uri } = testMongo;
    const options = JSON.stringify({ uri, database: mongo.connection.name, topic, brokers: kafka.brokers, hold });
    const child = fork(`${import.meta.dirname}/effects.consumer.ts`, [options]);
    children.push(child);
    return child;
  }

  async function effects(): Promise<string[]> {
    const found = await mongo.connection.collection(EFFECTS).find().toArray();
    return found.map(({ value }) => String(value)).toSorted();
  }

  /** All values in the topic, read by a separate reader. */
  async function contents(): Promise<string[]> {
    const ledger = createGroupLedger();
    const reader = log.consumer({ group: randomUUID(), topic, maxRecords: 500, handler: ledger.handler() });
    await reader.start();
    await eventually(async () => expect(await reader.lag()).toBe(0));
    await reader.stop();
    return ledger.values();
  }

  /** Appends continuously, four at a time, until stopped; then returns what was acknowledged. */
  function keepAppending(): { acknowledged: string[]; stop(): Promise<string[]> } {
    const acknowledged: string[] = [];
    let stopped = false;
    let next = 0;
    async function appendOneByOne(key: string): Promise<void> {
      while (!stopped) {
        const records = numbered(key, (next += 3), 3);
        await log.append(topic, records).then(
          () => acknowledged.push(...valuesOf(records)),
          (error: unknown) => expect(error).toMatchObject({ code: 'service_unavailable' }),
        );
      }
    }
    const appending = Promise.all(['a', 'b', 'c', 'd'].map(appendOneByOne));
    return {
      acknowledged,
      async stop() {
        stopped = true;
        await appending;
        return acknowledged;
      },
    };
  }

  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-faults-'));
    kafka = await startKafka({ dataDirectory });
  });
  afterAll(async () => {
    await kafka.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    topic = `payments-${randomUUID()}`;
    logs = [];
    consumers = [];
    children = [];
    mongo = connectMongo({ uri: testMongo.uri, database: testMongo.newDatabase(), logger });
    createOffsetStore(mongo.connection, 'effects');
    await mongo.start();
    await mongo.connection.createCollection(EFFECTS);
    log = await openLog();
    await log.ensureTopic({ name: topic, partitions: 3, retentionMs: HOUR_MS });
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    for (const opened of logs) await opened.stop();
    await mongo.stop();
  });

  it('has every acknowledged record, once, though the broker is killed in the middle of appends and reads', async () => {
    await consume(effectsConsumer(log));
    const load = keepAppending();
    for (let kills = 0; kills < 2; kills += 1) {
      const before = load.acknowledged.length;
      await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(before + 100));
      await kafka.kill();
      await kafka.restart();
    }
    const after = load.acknowledged.length;
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(after + 100));
    const acknowledged = await load.stop();

    const stored = await contents();
    expect(stored.toSorted()).toEqual([...new Set(stored)].toSorted());
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    await eventually(async () => expect(await effects()).toEqual(stored.toSorted()));
  });

  it('is not ready and refuses appends while the broker is down, and continues automatically when it is back', async () => {
    const consumer = await consume(effectsConsumer(log));
    await log.append(topic, numbered('ws', 0, 1));
    await kafka.stop();
    await expect(log.append(topic, numbered('ws', 1, 1))).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
    });
    await expect(log.ready?.()).rejects.toThrow();
    await eventually(() => expect(consumer.ready?.()).rejects.toThrow('not a member'));

    await kafka.restart();
    await eventually(() => log.append(topic, numbered('ws', 2, 1)));
    await eventually(async () => {
      await log.ready?.();
      await consumer.ready?.();
    });
    await eventually(async () => expect(await effects()).toEqual(expect.arrayContaining(['ws-0', 'ws-2'])));
  });

  it('bears a broker that hangs: appends are refused in time, none that was acknowledged is lost or doubled', async () => {
    const consumer = await consume(effectsConsumer(log));
    const load = keepAppending();
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(100));
    await kafka.pause();
    await expect(log.append(topic, numbered('ws', 0, 1))).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(log.ready?.()).rejects.toThrow('Kafka does not answer');
    await expect(consumer.ready?.()).rejects.toThrow('not a member');
    kafka.resume();

    const before = load.acknowledged.length;
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(before + 100));
    const acknowledged = await load.stop();
    const stored = await contents();
    expect(stored.toSorted()).toEqual([...new Set(stored)].toSorted());
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    await eventually(async () => expect(await effects()).toEqual(stored.toSorted()));
  });

  it('has every effect exactly once though its consumer is killed in mid-batch again and again', async () => {
    const records = numbered('ws', 0, 120);
    await log.append(topic, records);
    for (let kills = 0; kills < 3; kills += 1) {
      const child = startChild();
      for (let batches = 0; batches < 3; batches += 1) await once(child, 'message');
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await consume(effectsConsumer(log));
    await eventually(async () => expect(await effects()).toEqual(valuesOf(records).toSorted()));
  });

  it('has no effect of an owner that was taken for dead and comes back in the middle of its batch', async () => {
    await log.append(topic, numbered('ws', 0, 3));
    const stale = startChild(true);
    await once(stale, 'message');
    await halt(stale.pid!);

    const successor = await consume(effectsConsumer(log));
    await eventually(async () => expect(await successor.lag()).toBe(0));
    stale.send('go on');
    stale.kill('SIGCONT');
    for (let n = 3; n < 30; n += 3) {
      await log.append(topic, numbered(`ws${n}`, n, 3));
      await eventually(async () => expect(await successor.lag()).toBe(0));
    }
    expect(await effects()).toHaveLength(30);
    expect(new Set(await effects()).size).toBe(30);
  });

  it('applies everything once while members join and leave under load', async () => {
    const load = keepAppending();
    const members: LogConsumer[] = [];
    for (let round = 0; round < 4; round += 1) {
      const before = load.acknowledged.length;
      members.push(await consume(effectsConsumer(await openLog())));
      if (round > 1) await members.shift()?.stop();
      await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(before + 300));
    }
    const acknowledged = await load.stop();
    await eventually(async () => expect(await effects()).toEqual(acknowledged.toSorted()));
  });

  it('reports to Kafka how far it has come, for those who watch the lag there', async () => {
    await log.append(topic, numbered('ws', 0, 7));
    const consumer = await consume(effectsConsumer(log));
    await eventually(async () => expect(await effects()).toHaveLength(7));
    await consumer.stop();
    expect(await committedOffsets(kafka.brokers, `effects.${topic}`, topic)).toBe(7);
  });
});

function numbered(key: string, first: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, n) => ({ key, value: Buffer.from(`${key}-${first + n}`) }));
}

function valuesOf(records: LogRecord[]): string[] {
  return records.map(({ value }) => value.toString());
}

/** Sum of the group's committed offsets over the partitions, as seen by tools that monitor lag. */
async function committedOffsets(brokers: string, groupId: string, topic: string): Promise<number> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  await admin.disconnect();
  return (found?.partitions ?? []).reduce((total, { offset }) => total + Math.max(0, Number(offset)), 0);
}
