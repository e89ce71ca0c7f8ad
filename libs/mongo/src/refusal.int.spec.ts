import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testLogger, useMongo } from '@tollkeeper/testing';
import type { ClientSession } from 'mongoose';
import { connectMongo } from './connection.ts';
import { createOffsetStore, OffsetConflict } from './offset.store.ts';
import { explainOutage } from './outage.ts';
import { isRefusal } from './refusal.ts';
import { ContendedTransaction, withTransaction } from './transaction.ts';

const MB = 1024 * 1024;

const testMongo = useMongo();
const { logger } = testLogger();
const mongo = connectMongo({ uri: testMongo.uri, database: testMongo.database, logger });
const { connection } = mongo;
const offsets = createOffsetStore(connection, 'readers');

interface Item {
  _id: string | number;
  kind?: string;
  fill?: string[];
  n?: number;
}
const items = () => connection.collection<Item>('items');
const fill = (bytes: number) => ['x'.repeat(bytes)];

beforeAll(async () => {
  await mongo.start();
  await connection.createCollection('items', { validator: { kind: { $ne: 'forbidden' } } });
  await items().insertMany([{ _id: 'large', fill: fill(10 * MB) }, { _id: 'known' }, { _id: 'contended', n: 0 }]);
});
afterAll(() => mongo.stop());

const failureOf = (run: (session: ClientSession) => Promise<unknown>, retryForMs = 10_000): Promise<unknown> =>
  withTransaction(connection, run, { retryForMs }).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('MongoDB refuses, and is not away, when it is given', () => {
  it.each<[string, RegExp, (session: ClientSession) => Promise<unknown>]>([
    [
      'more than a transaction may hold',
      // A busy server may call it a conflict instead, at every attempt.
      /-31800: transaction is too large|WriteConflict/,
      async (session) => {
        for (let _id = 0; _id < 40; _id += 1) await items().insertOne({ _id, fill: fill(15 * MB) }, { session });
      },
    ],
    [
      'a document that is too large',
      /BSONObj size/,
      (session) => items().insertOne({ _id: 1, fill: fill(16.1 * MB) }, { session }),
    ],
    [
      'a document that is too large, in a bulk write',
      /larger than the maximum size/,
      (session) => items().bulkWrite([{ insertOne: { document: { _id: 1, fill: fill(16.1 * MB) } } }], { session }),
    ],
    [
      'a change that makes a document too large',
      /BSONObj size/,
      (session) => items().updateOne({ _id: 'large' }, { $push: { fill: 'x'.repeat(8 * MB) } }, { session }),
    ],
    [
      'a document that its collection does not allow',
      /failed validation/,
      (session) => items().insertOne({ _id: 1, kind: 'forbidden' }, { session }),
    ],
    ['a key twice', /duplicate key/, (session) => items().insertMany([{ _id: 1 }, { _id: 'known' }], { session })],
    [
      'a change that does not fit the field',
      /non-numeric type/,
      (session) => items().updateOne({ _id: 'large' }, { $inc: { fill: 1 } } as object, { session }),
    ],
    [
      'a name that no document can have',
      /null bytes/,
      (session) => items().insertOne({ _id: 1, ['a\0b']: 1 } as Item, { session }),
    ],
  ])('%s', async (_what, message, run) => {
    const error = await failureOf(run);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
    expect(isRefusal(error)).toBe(true);
    expect(explainOutage(error)).toBeUndefined();
  });

  it('a transaction that conflicts for as long as it may try', async () => {
    const session = await connection.startSession();
    session.startTransaction();
    await items().updateOne({ _id: 'contended' }, { $inc: { n: 1 } }, { session });
    const error = await failureOf(
      (own) => items().updateOne({ _id: 'contended' }, { $inc: { n: 1 } }, { session: own }),
      100,
    );
    await session.abortTransaction();
    await session.endSession();
    expect(error).toBeInstanceOf(ContendedTransaction);
    expect(error).toMatchObject({ message: expect.stringContaining('conflict') });
    expect(isRefusal(error)).toBe(true);
  });
});

describe('what is no refusal', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a wrong query', () => items().find({ $bad: 1 }).toArray()],
    ['an error of our own', () => Promise.reject(new Error('a bug'))],
    ['a command without the right to it', () => connection.getClient().db('local').command({ create: 'oplog.rs' })],
  ])('%s', async (_what, run) => {
    const error = await failureOf(run);
    expect(error).toBeInstanceOf(Error);
    expect(isRefusal(error)).toBe(false);
  });

  it('a position that somebody else has moved', async () => {
    const advance = { topic: 'events', partition: 0, from: null, to: 1 };
    await failureOf((session) => offsets.advance(session, advance));
    const error = await failureOf((session) => offsets.advance(session, advance));
    expect(error).toBeInstanceOf(OffsetConflict);
    expect(isRefusal(error)).toBe(false);
  });

  it('a server that does not answer', async () => {
    const away = connectMongo({
      uri: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
      database: 'none',
      logger,
      serverSelectionTimeoutMs: 50,
    });
    const error = await away.connection.openUri('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 50 }).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    await away.stop();
    expect(error).toBeInstanceOf(Error);
    expect(isRefusal(error)).toBe(false);
  });
});
