import { describe, expect, it } from '@jest/globals';
import { eventually } from './eventually.ts';
import { useMongo } from './mongo.ts';

describe('useMongo', () => {
  const mongo = useMongo();

  it('gives a server on which transactions work', async () => {
    const items = mongo.connection.collection<{ n: number }>('items');
    await items.insertOne({ n: 1 });
    const session = await mongo.connection.startSession();
    await expect(
      session.withTransaction(async () => {
        await items.insertOne({ n: 2 }, { session });
        throw new Error('roll it back');
      }),
    ).rejects.toThrow('roll it back');
    await session.endSession();
    expect(await items.countDocuments()).toBe(1);
  });

  it('gives every database name once', () => {
    expect(new Set([mongo.database, mongo.newDatabase(), mongo.newDatabase()]).size).toBe(3);
  });
});

describe('eventually', () => {
  it('resolves to the first result that passes', async () => {
    let calls = 0;
    const result = await eventually(() => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
      return calls;
    });
    expect(result).toBe(3);
  });

  it('rejects with the last failure once the time is up', async () => {
    await expect(eventually(() => Promise.reject(new Error('never')), { timeoutMs: 1 })).rejects.toThrow('never');
  });
});
