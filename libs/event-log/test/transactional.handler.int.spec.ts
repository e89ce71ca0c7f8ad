import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo, createOffsetStore, OffsetConflict, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import type { ClientSession } from 'mongoose';
import type { DeadLetters, ReadRecord, RecordBatch } from '../src/index.ts';
import { createRecordApplier, type RecordApplierOptions } from '../src/record.applier.ts';
import { createTransactionalHandler } from '../src/transactional.handler.ts';

const testMongo = useMongo();
const mongo = connectMongo({ uri: testMongo.uri, database: testMongo.database, logger: testLogger().logger });
const { connection } = mongo;
const offsets = createOffsetStore(connection, 'readers');

interface Effect {
  _id: string;
  text: string;
}
const effects = () => connection.collection<Effect>('effects');

beforeAll(async () => {
  await mongo.start();
  await connection.createCollection('effects', { validator: { text: { $not: /^refused/ } } });
});
afterAll(() => mongo.stop());

let topics = 0;

/** A group that inserts a document for each record, `<topic>/<text>`, and records its calls. */
function useHandler(options: Partial<RecordApplierOptions<string, number>> = {}) {
  const topic = `topic-${(topics += 1)}`;
  const dead: { offset: number; reason: string }[] = [];
  const stored: number[] = [];
  const transactions: number[] = [];
  const deadLetters: DeadLetters = {
    setAside: async (_source, { offset }, reason) => void dead.push({ offset, reason }),
  };
  const applier = createRecordApplier<string, number>({
    ...{ connection, deadLetters },
    decode({ value }) {
      const text = value.toString();
      if (text === 'unreadable') throw new Error('it is no JSON');
      return text === 'nothing' ? undefined : text;
    },
    async apply(session, texts) {
      await effects().insertMany(
        texts.map((text) => ({ _id: `${topic}/${text}`, text })),
        { session },
      );
      return texts.length;
    },
    applied: (count) => void transactions.push(count),
    ...options,
  });
  const handler = createTransactionalHandler({ offsets, applier });
  const position = () => handler.position(topic, 0);
  return {
    ...{ topic, dead, stored, transactions, position },
    async handle(texts: string[], from: number | null = null) {
      const batch: RecordBatch = {
        ...{ topic, partition: 0, records: texts.map((text, index) => recordOf(text, (from ?? 0) + index)), from },
        ...{ nextOffset: (from ?? 0) + texts.length, endOffset: 1_000 },
      };
      await handler.handle(batch, (reached) => void stored.push(reached));
    },
    async applied() {
      const found = await effects()
        .find({ _id: { $gt: `${topic}/`, $lt: `${topic}0` } })
        .toArray();
      return found.map(({ text }) => text).sort();
    },
  };
}

function recordOf(text: string, offset: number): ReadRecord {
  return { key: 'ws', value: Buffer.from(text), offset, appendedAt: 0 };
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('a handler whose effects and position are one transaction', () => {
  it('commits a batch at once that fits, with what is to be applied and without what is not', async () => {
    const group = useHandler();
    await group.handle(['a', 'nothing', 'unreadable', 'b']);
    expect(await group.applied()).toEqual(['a', 'b']);
    expect(group.transactions).toEqual([2]);
    expect(group.stored).toEqual([4]);
    expect(await group.position()).toBe(4);
    expect(group.dead).toEqual([{ offset: 2, reason: 'it is no JSON' }]);
  });

  it('moves the position where nothing is to be applied', async () => {
    const group = useHandler();
    await group.handle(['nothing', 'nothing']);
    expect(await group.position()).toBe(2);
    expect(group.transactions).toEqual([]);
  });

  it('stores the position only behind effects that are made ahead, and makes them again where it could not', async () => {
    const made: string[][] = [];
    const group = useHandler({
      async applyAhead(items) {
        made.push(items);
        if (made.length === 1) throw new Error('a peer is away');
      },
    });
    await expect(group.handle(['a', 'nothing', 'b'])).rejects.toThrow('a peer is away');
    expect(await group.position()).toBeNull();
    await group.handle(['a', 'nothing', 'b']);
    expect(await group.position()).toBe(3);
    expect(made).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('keeps no one waiting while it makes effects ahead: another consumer can move on', async () => {
    const group = useHandler({
      applyAhead: () =>
        withTransaction(
          connection,
          (session) => offsets.advance(session, { topic: group.topic, partition: 0, from: null, to: 9 }),
          { retryForMs: 1_000 },
        ),
    });
    await expect(group.handle(['a'])).rejects.toThrow(OffsetConflict);
    expect(await group.position()).toBe(9);
    expect(await group.applied()).toEqual([]);
  });

  it('commits what writes more documents than a transaction may in several, each with its position', async () => {
    // Like events of a few buckets: the first of three in a transaction writes five documents, the others one each.
    const documents = () => {
      const seen = new Set<number>();
      return (text: string) => {
        const isNew = !seen.has(Math.floor(Number(text) / 3));
        seen.add(Math.floor(Number(text) / 3));
        return isNew ? 5 : 1;
      };
    };
    const group = useHandler({ documents, limits: { documents: 14 } });
    await group.handle(texts(12));
    expect(group.transactions).toEqual([6, 6]);
    expect(group.stored).toEqual([6, 12]);
    expect(await group.applied()).toHaveLength(12);
  });

  it('commits a batch over the byte limit in several transactions, and a record over it alone', async () => {
    const group = useHandler({ limits: { bytes: 10 } });
    await group.handle(['12345', '6789', 'x'.repeat(11), 'y', 'z']);
    expect(group.transactions).toEqual([2, 1, 2]);
    expect(await group.position()).toBe(5);
  });

  it('halves what is refused down to the record that is, sets that aside with the reason and applies all others', async () => {
    const group = useHandler();
    await group.handle([...texts(5), 'refused', ...texts(10).slice(5)]);
    expect(await group.applied()).toEqual(texts(10));
    expect(group.dead).toEqual([{ offset: 5, reason: 'Document failed validation' }]);
    expect(await group.position()).toBe(11);
    expect(group.stored).toEqual(group.stored.toSorted((a, b) => a - b));
  });

  it('gets through a partition in which everything is refused', async () => {
    const group = useHandler();
    await group.handle(['refused a', 'refused b', 'refused c'], null);
    await group.handle(['refused d', 'e'], 3);
    expect(group.dead.map(({ offset }) => offset)).toEqual([0, 1, 2, 3]);
    expect(await group.applied()).toEqual(['e']);
  });

  it('gives what is refused for a moment another chance', async () => {
    const group = useHandler();
    let refusals = 1;
    const { handle, dead } = useHandler({
      async apply(session, items) {
        if (refusals-- > 0) await effects().insertOne({ _id: 'moment', text: 'refused' }, { session });
        await effects().insertOne({ _id: `${group.topic}/${items[0]}`, text: 'late' }, { session });
        return 1;
      },
    });
    await handle(['once']);
    expect(dead).toEqual([]);
    expect(await group.applied()).toEqual(['late']);
  });

  it('sets nothing aside and goes no further when the failure is none of the record', async () => {
    let healthy = false;
    const group = useHandler({
      async apply(session, items) {
        if (!healthy && items.includes('2')) throw new Error('a bug');
        await effects().insertMany(
          items.map((text) => ({ _id: `${group.topic}/${text}`, text })),
          { session },
        );
        return items.length;
      },
      limits: { documents: 2 },
    });
    await expect(group.handle(texts(5))).rejects.toThrow('a bug');
    expect(await group.position()).toBe(2);
    expect(await group.applied()).toEqual(['0', '1']);
    healthy = true;
    await group.handle(['2', '3', '4'], 2);
    expect(await group.applied()).toEqual(texts(5));
    expect(group.dead).toEqual([]);
  });

  it('sets nothing aside when the database does not take the position either', async () => {
    const group = useHandler();
    await group.handle(['a']);
    const positions = { collMod: 'consumer_offsets', validator: { _id: { $ne: `readers/${group.topic}/0` } } };
    await connection.db!.command(positions);
    const failure = group.handle(['refused', 'b'], 1);
    await expect(failure).rejects.toThrow('failed validation');
    await connection.db!.command({ ...positions, validator: {} });
    expect(group.dead).toEqual([]);
    expect(await group.position()).toBe(1);
  });

  it('drops a batch that another owner of the partition has applied', async () => {
    const group = useHandler();
    await group.handle(['a', 'b']);
    await expect(group.handle(['a', 'b'])).rejects.toBeInstanceOf(OffsetConflict);
    expect(group.dead).toEqual([]);
    expect(await group.applied()).toEqual(['a', 'b']);
  });

  it('is patient with a record that conflicts alone, and sets it aside in the end', async () => {
    const holder = await connection.startSession();
    holder.startTransaction();
    await effects().insertOne({ _id: 'held', text: 'held' }, { session: holder });
    const conflicting = {
      async apply(session: ClientSession, items: string[]) {
        if (items.includes('held')) await effects().insertOne({ _id: 'held', text: 'mine' }, { session });
        return items.length;
      },
    };
    const patient = useHandler({ ...conflicting, limits: { retryForMs: 50 } });
    await expect(patient.handle(['held', 'b'])).rejects.toThrow('did not get through');
    await expect(patient.handle(['held', 'b'], 0)).rejects.toThrow('did not get through');
    expect(patient.dead).toEqual([]);

    const hasty = useHandler({ ...conflicting, limits: { retryForMs: 50, patienceMs: 0 } });
    await expect(hasty.handle(['held', 'b'])).rejects.toThrow('did not get through');
    await hasty.handle(['held', 'b'], 0);
    expect(hasty.dead).toEqual([{ offset: 0, reason: expect.stringContaining('conflict') }]);
    expect(await hasty.position()).toBe(2);
    await holder.abortTransaction();
    await holder.endSession();
  });
});
