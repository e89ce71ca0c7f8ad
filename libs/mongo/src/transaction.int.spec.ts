import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testLogger, useBreakableMongo } from '@tollkeeper/testing';
import { connectMongo, type MongoConnection } from './connection.ts';
import { changeInTurn, withTransaction } from './transaction.ts';

const testMongo = useBreakableMongo();
let mongo: MongoConnection;

interface Item {
  _id: number;
  n: number;
}
const items = () => mongo.connection.collection<Item>('items');

beforeAll(async () => {
  const { uri, database } = testMongo;
  mongo = connectMongo({ uri, database, logger: testLogger().logger });
  await mongo.start();
  await mongo.connection.createCollection('items');
});
afterAll(async () => {
  await mongo.stop();
  await testMongo.stop();
});

it.each([
  ['its commit', 1],
  ['its next statement', 2],
])(
  'a transaction that an outage has aborted before %s is no conflict: it gets the time that it had',
  async (_at, n) => {
    let attempts = 0;
    await withTransaction(
      mongo.connection,
      async (session) => {
        attempts += 1;
        await items().updateOne({ _id: n }, { $inc: { n: 1 } }, { session, upsert: true });
        if (attempts > 1) return;
        await testMongo.kill();
        await testMongo.restart();
        if (n === 2) await items().updateOne({ _id: n }, { $inc: { n: 1 } }, { session });
      },
      { retryForMs: 0 },
    );
    expect(attempts).toBeGreaterThan(1);
    expect(await items().findOne({ _id: n })).toEqual({ _id: n, n: 1 });
  },
);

it('a sender with 256 waiting changes gets 429 for further ones, and other senders change what they like', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = (sender: string, work = (): Promise<void> => Promise.resolve()) =>
    changeInTurn(mongo.connection, sender, work);
  const taken = [change('a', () => promise), ...Array.from({ length: 256 }, () => change('a'))];
  await expect(change('a')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 });
  await change('b');
  resolve();
  await Promise.all(taken);
});
