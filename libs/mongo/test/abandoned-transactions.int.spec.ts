import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { endAbandonedTransactions } from '../src/abandoned-transactions.ts';
import { connectMongo, withTransaction } from '../src/index.ts';
import { testLogger, useMongo } from '@tollkeeper/testing';

const { uri, database } = useMongo();
const mongo = connectMongo({ uri, database, logger: testLogger().logger });
const items = () => mongo.connection.collection<{ _id: number; by: string }>('items');

beforeAll(async () => {
  await mongo.start();
  await mongo.connection.createCollection('items');
  await items().insertOne({ _id: 1, by: 'nobody' });
});
afterAll(() => mongo.stop());

describe('a transaction of a process that was killed', () => {
  it('delays others for seconds, and not until the server ends it', async () => {
    const admin = mongo.connection.getClient().db('admin');
    const { was } = await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: 3600 });
    const child = fork(`${import.meta.dirname}/holding.process.ts`, [uri, database]);
    await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await withTransaction(mongo.connection, (session) =>
      items().updateOne({ _id: 1 }, { $set: { by: 'the next one' } }, { session }),
    );
    expect(await items().findOne({ _id: 1 })).toMatchObject({ by: 'the next one' });
    await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: was });
  });
});

describe('a transaction of a living process', () => {
  it('is not ended by others while there are statements, though its pauses together are long', async () => {
    const looks = setInterval(() => void endAbandonedTransactions(mongo.connection), 200);
    let attempts = 0;
    await withTransaction(mongo.connection, async (session) => {
      attempts += 1;
      for (const by of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']) {
        await items().updateOne({ _id: 2 }, { $set: { by } }, { session, upsert: true });
        await delay(400);
      }
    });
    clearInterval(looks);
    expect(attempts).toBe(1);
    expect(await items().findOne({ _id: 2 })).toMatchObject({ by: 'l' });
  });
});
