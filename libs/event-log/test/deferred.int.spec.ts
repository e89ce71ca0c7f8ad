import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { createConsumerGroup, createMongoEventLog, type EventLog, type LogConsumer } from '../src/index.ts';

const { uri, database } = useMongo();
const { logger } = testLogger();
const mongo = connectMongo({ uri, database, logger });
const { connection } = mongo;
const eventLog = createMongoEventLog({ connection, logger, metrics: createMetrics('log') });

/** Effects in the order of their commits. */
interface Effect {
  topic: string;
  key: string;
  text: string;
}
const effects = () => connection.collection<Effect>('effects');

beforeAll(async () => {
  await mongo.start();
  await connection.createCollection('effects', { validator: { text: { $not: /^refused/ } } });
  await eventLog.start();
});
afterAll(async () => {
  await eventLog.stop();
  await mongo.stop();
});

/** Ends what a failed test leaves. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

interface Record {
  key: string;
  text: string;
}

/** A record of the key `dear` writes a third of what a transaction may, all others one document. */
const documents = () => (item: Record) => (item.key === 'dear' ? 1_000 : 1);

let topics = 0;

/** A topic of one partition, and consumers of one group that wait for `gate` before each dear transaction. */
function useTopic(gate: (items: Record[]) => Promise<unknown> = () => Promise.resolve()) {
  const topic = `topic-${(topics += 1)}`;

  function newConsumer(log: EventLog = eventLog) {
    const metrics = createMetrics('test');
    const group = createConsumerGroup({ name: 'readers', eventLog: log, connection, metrics, logger });
    const consumer = group.consumer<Record, number>({
      topic: { name: topic, partitions: 1, retentionMs: 3_600_000 },
      decode: ({ key, value }) => ({ key, text: value.toString() }),
      documents,
      async apply(session, items) {
        if (items.some(({ key }) => key === 'dear')) await gate(items);
        await effects().insertMany(
          items.map((item) => ({ topic, ...item })),
          { session },
        );
        return items.length;
      },
    });
    endings.push(() => consumer.stop());
    const deferred = () => metrics.registry.getSingleMetricAsString('event_log_deferred_records');
    return { ...consumer, group, deferred };
  }

  return {
    topic,
    newConsumer,
    append: (records: readonly Record[]) =>
      eventLog.append(
        topic,
        records.map(({ key, text }) => ({ key, value: Buffer.from(text) })),
      ),
    /** The texts of a key, in the order in which they were applied. */
    async applied(key: string): Promise<string[]> {
      const found = await effects().find({ topic, key }).sort({ $natural: 1 }).toArray();
      return found.map(({ text }) => text);
    },
  };
}

const some = (key: string, count: number, from = 0): Record[] =>
  Array.from({ length: count }, (_, index) => ({ key, text: String(from + index) }));
const textsOf = (records: readonly Record[]) => records.map(({ text }) => text);

async function caughtUp(consumer: Pick<LogConsumer, 'lag'>): Promise<void> {
  await eventually(async () => expect(await consumer.lag()).toBe(0));
}

describe('a key with more records than fit into a transaction', () => {
  it('waits for itself: later records of other keys are applied before its own', async () => {
    let dearMayGoOn = () => {};
    const held = new Promise<void>((resolve) => (dearMayGoOn = resolve));
    endings.push(dearMayGoOn);
    let turns = 0;
    const { newConsumer, append, applied } = useTopic(() => ((turns += 1) > 1 ? held : Promise.resolve()));
    const consumer = newConsumer();
    await consumer.start();
    await append([...some('dear', 10), ...some('other', 2)]);
    await eventually(async () => expect(await applied('other')).toEqual(['0', '1']));
    await append([...some('other', 3, 2), ...some('dear', 2, 10)]);
    await eventually(async () => expect(await applied('other')).toHaveLength(5));
    expect(await applied('dear')).toEqual(['0', '1', '2']);
    expect(await consumer.lag()).toBe(9);
    expect(await consumer.deferred()).toContain('partition="0",service="test"} 9');
    dearMayGoOn();
    await caughtUp(consumer);
    expect(await applied('dear')).toEqual(textsOf(some('dear', 12)));
    expect(await consumer.deferred()).toContain('partition="0",service="test"} 0');
  });

  it('delays only those who wait for its earlier records', async () => {
    const [earlier, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    endings.push(earlier.resolve, later.resolve);
    const { newConsumer, append, applied } = useTopic(async ([first]) => {
      const index = Number(first?.text);
      if (index >= 3) await (index < 10 ? earlier : later).promise;
    });
    let asked = 0;
    const consumer = newConsumer({
      ...eventLog,
      consumer(options) {
        const ofLog = eventLog.consumer(options);
        return { ...ofLog, endOf: (key) => ofLog.endOf(key).finally(() => (asked += 1)) };
      },
    });
    await consumer.start();
    await append([...some('dear', 10), ...some('other', 2)]);
    await consumer.caughtUp('other', AbortSignal.timeout(60_000));
    expect(await applied('other')).toEqual(['0', '1']);
    await expect(consumer.caughtUp('dear', AbortSignal.timeout(300))).rejects.toThrow();

    const ofDear = consumer.caughtUp('dear', AbortSignal.timeout(60_000));
    await eventually(() => expect(asked).toBe(3));
    await append(some('dear', 5, 10));
    await eventually(async () => expect(await consumer.lag()).toBe(12));
    earlier.resolve();
    await ofDear;
    expect(await applied('dear')).toEqual(textsOf(some('dear', 10)));
    await expect(consumer.caughtUp('dear', AbortSignal.timeout(300))).rejects.toThrow();
    later.resolve();
    await consumer.caughtUp('dear', AbortSignal.timeout(60_000));
    expect(await applied('dear')).toEqual(textsOf(some('dear', 15)));
  });

  it('has its records applied once and in order by the next consumer after a stop in the middle', async () => {
    const { newConsumer, append, applied } = useTopic();
    const records = some('dear', 1_200);
    for (let consumers = 0; consumers < 4; consumers += 1) {
      const consumer = newConsumer();
      await consumer.start();
      if (consumers === 0) await append(records);
      await eventually(async () => expect((await applied('dear')).length).toBeGreaterThan(consumers * 100));
      await consumer.stop();
    }
    const last = newConsumer();
    await last.start();
    await append(some('dear', 1, 1_200));
    await caughtUp(last);
    expect(await applied('dear')).toEqual(textsOf(some('dear', 1_201)));
  });

  it('becomes a dead letter only where a record of it is refused, and the rest is applied', async () => {
    const { topic, newConsumer, append, applied } = useTopic();
    const consumer = newConsumer();
    await consumer.start();
    await append([...some('dear', 6), { key: 'dear', text: 'refused' }, ...some('dear', 2, 6)]);
    await caughtUp(consumer);
    expect(await applied('dear')).toEqual(textsOf(some('dear', 8)));
    const dead = await connection.collection('log_batches').countDocuments({ topic: `${topic}.dead` });
    expect(dead).toBe(1);
  });

  it('is applied once by two consumers that both believe to have the partition', async () => {
    const { newConsumer, append, applied, topic } = useTopic();
    const first = newConsumer();
    await first.start();
    await append(some('dear', 900));
    await eventually(async () => expect(await applied('dear')).not.toEqual([]));
    // A second owner, as after a pause of the first that lasted longer than its lease.
    const handlers: Parameters<EventLog['consumer']>[0]['handler'][] = [];
    const stray = newConsumer({
      ...eventLog,
      consumer(options) {
        handlers.push(options.handler);
        return eventLog.consumer(options);
      },
    });
    const [handler] = handlers;
    await handler?.begins?.(topic, 0);
    await caughtUp(first);
    await caughtUp(stray);
    expect(await applied('dear')).toEqual(textsOf(some('dear', 900)));
    await handler?.released?.({ topic, partition: 0, lost: true });
  });
});
