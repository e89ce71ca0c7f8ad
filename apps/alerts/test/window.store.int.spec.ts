import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import type { SavedCondition } from '../src/domain/condition.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { BYTES_PER_ENTRY, type EntryForm, FIELDS, type SavedSum } from '../src/domain/saved-sum.ts';
import { HELD_BYTES_PER_WINDOW } from '../src/domain/workspace.windows.ts';
import { createWindowStore } from '../src/store/window.store.ts';

const { BSON } = driver;

const testMongo = useMongo();
const mongo = connectMongo({
  uri: testMongo.uri,
  database: testMongo.newDatabase(),
  logger: testLogger().logger,
});
const windows = createWindowStore(mongo.connection);

beforeAll(() => mongo.start());
afterAll(() => mongo.stop());

function windowOf(ruleId: string, condition: SavedCondition): SavedWindow {
  return {
    ...{ tenantId: provenTenantId('ws_1'), ruleId, revision: 1, metUntil: null, condition },
    history: { lastFiredAt: null, decisions: 0, minutes: [] },
  };
}

type SavedSumCondition = SavedCondition<'event_count_gte' | 'spend_gte'>;

/** A save of entries with times from `first` to `last`; whole unless something is stored. */
type Saved = (first: number, last: number, about?: Partial<SavedSum>) => SavedSumCondition;

const savedOf =
  (kind: SavedSumCondition['kind'], form: EntryForm): Saved =>
  (first, last, about = {}) => {
    const fields = FIELDS[form];
    const length = fields * (last - first + 1);
    const entries = Float64Array.from({ length }, (_, index) => first + Math.floor(index / fields));
    const size = last - first + 1;
    const stored = { stored: 0, apart: false, sharedAs: null, stagger: 0.25, shareAt: 4000 };
    return { kind, sum: { form, entries, size, sampleIds: [`e${last}`], ...stored, ...about } };
  };
const counted = savedOf('event_count_gte', 'unit');

const TENANT = provenTenantId('ws_1');
const windowsIn = (partition: number) => mongo.connection.collection('windows').find({ partition }).toArray();
const pieces = () => mongo.connection.collection<{ _id: string; parts: object[]; expiresAt?: Date }>('window_pieces');
const piecesOf = (ruleId: string) =>
  pieces()
    .find({ _id: new RegExp(`^${ruleId}/`) })
    .sort({ _id: 1 })
    .toArray();

const save = (partition: number, ...changed: SavedWindow[]) =>
  withTransaction(mongo.connection, (session) => windows.save(session, partition, changed));

async function loaded(partition: number): Promise<SavedWindow[]> {
  const found: SavedWindow[] = [];
  for await (const window of windows.load(partition, [provenTenantId('ws_1')])) found.push(window);
  return found;
}

describe.each([
  ['counts', counted, 1],
  ['counts several', savedOf('event_count_gte', 'count'), 7],
  ['adds up', savedOf('spend_gte', 'amount'), 2],
] as const)('a window that %s', (what, saved, partition) => {
  const rule = `rule_${what}`;
  const bytesPerEntry = BYTES_PER_ENTRY[saved(1, 1).sum.form];

  it.each([
    ['with it', false, 200],
    ['apart', true, 3000],
  ])('has the newest of the entries that are stored %s, whole and in parts, each once', async (where, apart, size) => {
    const ruleId = `${rule}_${apart}`;
    const load = async () => (await loaded(partition)).filter((window) => window.ruleId === ruleId);
    await save(partition, windowOf(ruleId, saved(1, size, { apart })));
    await save(partition, windowOf(ruleId, saved(size + 1, size + 9, { size: size + 4, stored: size, apart })));
    // Starts with a late entry, so newer ones are repeated.
    const third = { size: size - 3, stored: size + 9, apart };
    await save(partition, windowOf(ruleId, saved(size + 3, size + 12, third)));
    const expected = saved(16, size + 12, { stored: size + 19, apart });
    expect(await load()).toEqual([windowOf(ruleId, expected)]);
    await save(partition, windowOf(ruleId, saved(1, 0, { size: size - 3, stored: size + 19, apart })));
    expect((await load())[0]!.condition).toMatchObject({ sum: { size: size - 3, stored: size + 19 } });
    await save(partition, windowOf(ruleId, saved(3, size - 1, { apart })));
    expect(await load()).toEqual([windowOf(ruleId, saved(3, size - 1, { stored: size - 3, apart }))]);
    expect(await piecesOf(ruleId)).toHaveLength(
      where === 'apart' ? Math.ceil(((size + 19) * bytesPerEntry) / 16_400) : 0,
    );
  });

  it('takes as much memory as its entries, though some are stored twice', async () => {
    const alone = provenTenantId(`ws_${what}`);
    const of = (ruleId: string, condition: SavedCondition) => ({ ...windowOf(ruleId, condition), tenantId: alone });
    await save(partition, of(`${rule}_small`, saved(1, 500)), of(`${rule}_large`, saved(1, 3000, { apart: true })));
    await save(partition, of(`${rule}_large`, saved(1, 1000, { size: 3000, stored: 3000, apart: true })));
    expect(await windows.sizeOf(partition, alone)).toBe(2 * HELD_BYTES_PER_WINDOW + 3500 * bytesPerEntry);
  });

  it('is found though its rule was deleted before a part was saved, so that what is left can be deleted', async () => {
    const [withIt, apart] = [`${rule}_gone`, `${rule}_gone_apart`];
    await save(partition + 2, windowOf(withIt, saved(5, 6, { size: 200, stored: 200 })));
    await save(partition + 2, windowOf(apart, saved(5, 6, { size: 3000, stored: 3000, apart: true })));
    expect((await loaded(partition + 2)).toSorted((a, b) => a.ruleId.length - b.ruleId.length)).toEqual([
      windowOf(withIt, saved(5, 6)),
      windowOf(apart, saved(5, 6)),
    ]);
    await withTransaction(mongo.connection, (session) => windows.delete(session, TENANT, apart));
    expect(await piecesOf(apart)).toEqual([]);
  });
});

describe('a window with its entries apart', () => {
  const ruleId = 'rule_1';
  const spent = savedOf('spend_gte', 'amount');
  const partition = 10;
  const only = async () => {
    const [first, ...others] = await loaded(partition);
    expect(others).toEqual([]);
    return first;
  };

  it('is written where something is added, and nowhere else', async () => {
    await save(partition, windowOf(ruleId, spent(1, 1300, { apart: true })));
    const before = await piecesOf(ruleId);
    expect(before.map(({ parts }) => parts.length)).toEqual([1, 1, 1]);
    await save(partition, windowOf(ruleId, spent(1301, 1310, { size: 1310, stored: 1300, apart: true })));
    const after = await piecesOf(ruleId);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]!.parts).toHaveLength(2);
    const [window] = await windowsIn(partition);
    expect(BSON.calculateObjectSize(window!)).toBeLessThan(500);
    // It fills one piece and begins two more.
    await save(partition, windowOf(ruleId, spent(1311, 2100, { size: 2100, stored: 1310, apart: true })));
    expect((await piecesOf(ruleId)).map(({ parts }) => parts.length)).toEqual([1, 1, 3, 1, 1]);
    expect(await only()).toEqual(windowOf(ruleId, spent(1, 2100, { stored: 2100, apart: true })));
  });

  it('takes the place of what it had before, and counts nothing that is left over', async () => {
    await save(partition, windowOf(ruleId, spent(5000, 6099, { apart: true })));
    expect(await piecesOf(ruleId)).toHaveLength(5);
    expect(await only()).toEqual(windowOf(ruleId, spent(5000, 6099, { stored: 1100, apart: true })));
    await save(partition, windowOf(ruleId, spent(6100, 7200, { size: 2201, stored: 1100, apart: true })));
    expect(await only()).toEqual(windowOf(ruleId, spent(5000, 7200, { stored: 2201, apart: true })));
    await save(partition, windowOf(ruleId, spent(9000, 9199)));
    expect(await only()).toEqual(windowOf(ruleId, spent(9000, 9199, { stored: 200 })));
  });

  it('is taken whole where a piece is missing, with what there is', async () => {
    await save(partition, windowOf(ruleId, spent(1, 1300, { apart: true })));
    await pieces().deleteOne({ _id: `${ruleId}/1` });
    expect((await only())!.condition).toMatchObject({ sum: { size: 1300 - 512, stored: 0, apart: false } });
    // All missing entries have left the window.
    await save(partition, windowOf(ruleId, spent(1, 1300, { apart: true })));
    await save(partition, windowOf(ruleId, spent(1301, 1310, { size: 700, stored: 1300, apart: true })));
    await pieces().deleteOne({ _id: `${ruleId}/0` });
    expect(await only()).toEqual(windowOf(ruleId, spent(611, 1310)));
  });

  it('leaves nothing behind with its rule, and takes nothing from others', async () => {
    const others = [`${ruleId}0`, `${ruleId}_`, 'rule_0'];
    const large = spent(1, 1300, { apart: true });
    await save(partition, ...[ruleId, ...others].map((id) => windowOf(id, large)));
    await withTransaction(mongo.connection, (session) => windows.delete(session, provenTenantId('ws_2'), ruleId));
    expect(await piecesOf(ruleId)).toHaveLength(5);
    await withTransaction(mongo.connection, (session) => windows.delete(session, TENANT, ruleId));
    expect(await piecesOf(ruleId)).toEqual([]);
    for (const other of others) expect(await piecesOf(other)).toHaveLength(3);
  });

  it('is read with many others, and with those that have theirs with them', async () => {
    const made = Array.from({ length: 150 }, (_, index) => {
      return windowOf(
        `many_${index}`,
        index % 3 === 0 ? spent(index, index + 199) : spent(index, index + 1299, { apart: true }),
      );
    });
    await save(11, ...made);
    const found = new Map((await loaded(11)).map((window) => [window.ruleId, window]));
    expect(found.size).toBe(made.length);
    for (const { ruleId: id, condition } of made as { ruleId: string; condition: SavedSumCondition }[]) {
      const sum = { ...condition.sum, stored: condition.sum.size };
      expect(found.get(id)).toEqual(windowOf(id, { ...condition, sum }));
    }
  });
});

describe('windows that share entries', () => {
  const partition = 20;
  const spent = savedOf('spend_gte', 'amount');
  const sharedAs = 'sum_1';
  const ids = ['shares_1', 'shares_2', 'shares_3'];
  /** A save in which the second window brings the entries. */
  const saveAll = (first: number, last: number, stored: number, size: number) =>
    save(
      partition,
      ...ids.map((id, index) =>
        index === 1
          ? windowOf(id, spent(first, last, { size, stored, apart: true, sharedAs }))
          : windowOf(id, spent(1, 0, { size, stored: stored + last - first + 1, apart: true, sharedAs })),
      ),
    );
  const wholeOf = (id: string, size: number) =>
    windowOf(id, { ...spent(1, size, { stored: size, apart: true, sharedAs }) });

  it('are stored with them once, and each is read with all', async () => {
    await saveAll(1, 1000, 0, 1000);
    await saveAll(1001, 1010, 1000, 1010);
    expect(await piecesOf(sharedAs)).toHaveLength(2);
    const found = await loaded(partition);
    const inOrder = found.toSorted((a, b) => a.ruleId.localeCompare(b.ruleId));
    expect(inOrder.map(({ ruleId, condition }) => windowOf(ruleId, withSample(condition, 'e1010')))).toEqual(
      ids.map((id) => wholeOf(id, 1010)),
    );
    expect(await windows.sizeOf(partition, TENANT)).toBe(3 * HELD_BYTES_PER_WINDOW + 1010 * 32);
  });

  it('do not keep the entries that they had before', async () => {
    await save(partition + 2, windowOf('moved', spent(1, 500)));
    const shares = { size: 10, stored: 10, apart: true, sharedAs: 'sum_2' };
    await save(partition + 2, windowOf('moved', spent(1, 0, shares)));
    const [window] = await windowsIn(partition + 2);
    expect(BSON.calculateObjectSize(window!)).toBeLessThan(500);
  });

  it('keep them when one of their rules is deleted', async () => {
    await withTransaction(mongo.connection, (session) => windows.delete(session, TENANT, ids[1]!));
    expect(await piecesOf(sharedAs)).toHaveLength(2);
    const found = await loaded(partition);
    expect(found.map(({ condition }) => (condition as SavedSumCondition).sum.entries.length)).toEqual([4040, 4040]);
  });

  it('leave nothing behind: MongoDB deletes what no save has changed for two months', async () => {
    for (const piece of await piecesOf(sharedAs)) {
      const keptDays = (piece.expiresAt!.getTime() - Date.now()) / 86_400_000;
      expect(keptDays).toBeGreaterThan(59);
      expect(keptDays).toBeLessThan(62);
    }
    const indexes = await pieces().indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    // Those of a single rule are deleted with it.
    await save(partition + 1, windowOf('alone', spent(1, 1000, { apart: true })));
    for (const piece of await piecesOf('alone')) expect(piece).not.toHaveProperty('expiresAt');
  });
});

const withSample = (condition: SavedCondition, id: string): SavedCondition =>
  condition.kind === 'first_occurrence' ? condition : { ...condition, sum: { ...condition.sum, sampleIds: [id] } };
