import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { connectMongo } from './connection.ts';
import { createOffsetStore, OffsetConflict, type OffsetStep } from './offset.store.ts';
import { withTransaction } from './transaction.ts';

const testMongo = useMongo();
const mongo = connectMongo({ uri: testMongo.uri, database: testMongo.database, logger: testLogger().logger });
const offsets = createOffsetStore(mongo.connection, 'dashboard');

beforeAll(() => mongo.start());
afterAll(() => mongo.stop());

function advance(step: Omit<OffsetStep, 'topic'>, store = offsets): Promise<void> {
  return withTransaction(mongo.connection, (session) => store.advance(session, { topic: 'events', ...step }));
}

describe('the positions of a consumer group', () => {
  it('are null until the first batch and then where the last one ended, for each partition', async () => {
    expect(await offsets.position('events', 0)).toBeNull();
    await advance({ partition: 0, from: null, to: 5 });
    await advance({ partition: 0, from: 5, to: 9 });
    expect(await offsets.position('events', 0)).toBe(9);
    expect(await offsets.position('events', 1)).toBeNull();
    expect(await createOffsetStore(mongo.connection, 'alerts').position('events', 0)).toBeNull();
  });

  it('move only from where they stand: a stale owner gets an OffsetConflict and its effects are undone', async () => {
    const effects = mongo.connection.collection('effects');
    await mongo.connection.createCollection('effects');
    await advance({ partition: 2, from: null, to: 4 });
    for (const from of [null, 3]) {
      const stale = withTransaction(mongo.connection, async (session) => {
        await effects.insertOne({ from }, { session });
        await offsets.advance(session, { topic: 'events', partition: 2, from, to: 8 });
      });
      await expect(stale).rejects.toBeInstanceOf(OffsetConflict);
    }
    expect(await effects.countDocuments()).toBe(0);
    expect(await offsets.position('events', 2)).toBe(4);
  });

  it('let exactly one of several owners that apply the same batch at the same time through', async () => {
    for (const from of [null, 1, 2]) {
      const to = (from ?? 0) + 1;
      const results = await Promise.allSettled([1, 2, 3, 4].map(() => advance({ partition: 3, from, to })));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await offsets.position('events', 3)).toBe(to);
    }
  });

  it('can be held by who stands there, before and after the first batch, and by nobody else', async () => {
    const hold = (from: number | null) =>
      withTransaction(mongo.connection, (session) =>
        offsets.hold(session, { topic: 'events', partition: 4, from }).then(() => undefined),
      );
    for (const [from, others, to] of [
      [null, [1], 3],
      [3, [null, 1, 4], 5],
    ] as const) {
      await hold(from);
      await hold(from);
      expect(await offsets.position('events', 4)).toBe(from);
      for (const other of others) await expect(hold(other)).rejects.toBeInstanceOf(OffsetConflict);
      await advance({ partition: 4, from, to });
      await expect(hold(from)).rejects.toBeInstanceOf(OffsetConflict);
    }
  });

  it.each([null, 7])('held at %s, are not moved by anybody else before the holder has committed', async (from) => {
    const partition = from === null ? 5 : 6;
    if (from !== null) await advance({ partition, from: null, to: from });
    let other: Promise<void> | undefined;
    const order: string[] = [];
    await withTransaction(mongo.connection, async (session) => {
      await offsets.hold(session, { topic: 'events', partition, from });
      other ??= advance({ partition, from, to: 9 }).then(() => void order.push('moved'));
      await mongo.connection.collection('effects').insertOne({ from }, { session });
      order.push('held');
    });
    await other;
    expect(order).toEqual(['held', 'moved']);
  });
});
