import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, testLogger, useBreakableMongo } from '@tollkeeper/testing';
import { connectMongo, type MongoConnection } from './connection.ts';
import { explainOutage } from './outage.ts';
import { withTransaction } from './transaction.ts';

const testMongo = useBreakableMongo();
let mongo: MongoConnection;

interface Item {
  _id: number;
  n: number;
}
const items = () => mongo.connection.collection<Item>('items');
const operations: [string, () => Promise<unknown>][] = [
  ['read', () => items().findOne({ _id: 1 })],
  ['write', () => items().updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true })],
  [
    'aggregation',
    () =>
      items()
        .aggregate([{ $match: {} }])
        .toArray(),
  ],
  ['bulk write', () => items().bulkWrite([{ updateOne: { filter: { _id: 1 }, update: { $inc: { n: 1 } } } }])],
  [
    'transaction',
    () =>
      withTransaction(mongo.connection, (session) => items().updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })),
  ],
];

beforeAll(async () => {
  const { uri, database } = testMongo;
  mongo = connectMongo({ uri, database, logger: testLogger().logger, serverSelectionTimeoutMs: 1_000 });
  await mongo.start();
  await mongo.connection.createCollection('items');
});
afterAll(async () => {
  await mongo.stop();
  await testMongo.stop();
});

/** The explanation of each operation that fails; the result of each that succeeds. */
function outcomes(): Promise<unknown[]> {
  const outcome = ([, run]: (typeof operations)[number]) => run().catch((error: unknown) => explainOutage(error)?.code);
  return Promise.all(operations.map(outcome));
}

const UNAVAILABLE = operations.map(() => 'service_unavailable');

async function worksAgain(): Promise<void> {
  await eventually(() => mongo.ping());
  for (const [, run] of operations) await run();
}

describe('while MongoDB is down, every operation fails soon with an outage, and afterwards works again', () => {
  it('when the server is killed, also under what has begun', async () => {
    const begun = Promise.all(Array.from({ length: 20 }, outcomes));
    await testMongo.kill();
    for (const results of await begun) {
      // Operations answered before the outage are not failures.
      expect(results.filter((result) => result === undefined)).toEqual([]);
    }
    expect(await outcomes()).toEqual(UNAVAILABLE);
    await expect(mongo.ping()).rejects.toThrow();
    await testMongo.restart();
    await worksAgain();
  });

  it('when the server hangs with its connections open', async () => {
    await testMongo.hang();
    await expect(mongo.ping()).rejects.toThrow('MongoDB did not answer within 2000 ms');
    expect(await outcomes()).toEqual(UNAVAILABLE);
    await testMongo.goOn();
    await worksAgain();
  });
});

describe('what is no outage', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a duplicate key', () => items().insertOne({ _id: 1, n: 0 })],
    ['a wrong query', () => items().find({ $bad: 1 }).toArray()],
    ['an error of our own', () => Promise.reject(new Error('a bug'))],
  ])('%s', async (_what, run) => {
    await items().updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true });
    const error: unknown = await run().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    expect(explainOutage(error)).toBeUndefined();
  });
});
