import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { createConsumerGroup, createMongoEventLog } from '../src/index.ts';

const { uri, database } = useMongo();
const { logger } = testLogger();
const metrics = createMetrics('test');
const mongo = connectMongo({ uri, database, logger });
const { connection } = mongo;
const eventLog = createMongoEventLog({ connection, logger, metrics });
const group = createConsumerGroup({ name: 'readers', eventLog, connection, metrics, logger });

const effects = () => connection.collection<{ _id: string }>('effects');

/** Inserts a document for each record of the topic. */
function consumerOf(topic: string) {
  return group.consumer({
    topic: { name: topic, partitions: 1, retentionMs: 3_600_000 },
    decode({ value }) {
      const text = value.toString();
      if (text === 'unreadable') throw new Error('it is no JSON');
      return `${topic}/${text}`;
    },
    apply: (session, ids) =>
      effects().insertMany(
        ids.map((_id) => ({ _id })),
        { session },
      ),
  });
}

const append = (topic: string, texts: string[]) =>
  eventLog.append(
    topic,
    texts.map((text) => ({ key: 'ws', value: Buffer.from(text) })),
  );

beforeAll(async () => {
  await mongo.start();
  await connection.createCollection('effects');
  await eventLog.start();
});
afterAll(async () => {
  await eventLog.stop();
  await mongo.stop();
});

describe('a consumer of a group', () => {
  it('makes its topic, applies what it reads once and continues behind it after a restart', async () => {
    const first = consumerOf('payments');
    await first.start();
    await append('payments', ['a', 'b']);
    await eventually(async () => expect(await group.offsets.position('payments', 0)).toBe(2));
    await first.stop();

    const second = consumerOf('payments');
    await second.start();
    await append('payments', ['c']);
    await eventually(async () => expect(await group.offsets.position('payments', 0)).toBe(3));
    await second.stop();
    const applied = await effects().find().sort({ _id: 1 }).toArray();
    expect(applied.map(({ _id }) => _id)).toEqual(['payments/a', 'payments/b', 'payments/c']);
  });

  it('reports when all earlier records of a key are applied, by whichever consumer of the group', async () => {
    const [asked, other] = [consumerOf('orders'), consumerOf('orders')];
    await eventLog.ensureTopic({ name: 'orders', partitions: 1, retentionMs: 3_600_000 });
    await asked.caughtUp('ws', AbortSignal.timeout(60_000));
    await append('orders', ['0']);
    await expect(asked.caughtUp('ws', AbortSignal.timeout(300))).rejects.toThrow();
    await other.start();
    for (const text of ['1', '2', '3', '4', '5']) {
      await append('orders', [text]);
      await asked.caughtUp('ws', AbortSignal.timeout(60_000));
      expect(await effects().countDocuments({ _id: `orders/${text}` })).toBe(1);
    }
    await other.stop();
  });

  it('waits for no records that have expired', async () => {
    const consumer = consumerOf('bills');
    await eventLog.ensureTopic({ name: 'bills', partitions: 1, retentionMs: 3_600_000 });
    await append('bills', ['a', 'b']);
    await connection.collection('log_batches').deleteMany({ topic: 'bills' });
    await consumer.caughtUp('ws', AbortSignal.timeout(60_000));
    expect(await group.offsets.position('bills', 0)).toBeNull();
  });

  it('sets aside what it cannot decode; all consumers of the group count it in one metric', async () => {
    const consumers = ['refunds', 'fees'].map(consumerOf);
    for (const consumer of consumers) await consumer.start();
    await append('refunds', ['unreadable', 'a']);
    await append('fees', ['unreadable', 'a']);
    await eventually(async () => {
      expect(await group.offsets.position('refunds', 0)).toBe(2);
      expect(await group.offsets.position('fees', 0)).toBe(2);
    });
    for (const consumer of consumers) await consumer.stop();
    const exposed = await metrics.registry.getSingleMetricAsString('event_log_dead_letters_total');
    expect(exposed).toContain('topic="refunds",service="test"} 1');
    expect(exposed).toContain('topic="fees",service="test"} 1');
    expect(await effects().countDocuments({ _id: { $in: ['refunds/a', 'fees/a'] } })).toBe(2);
  });
});
