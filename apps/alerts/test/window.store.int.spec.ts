import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import type { SavedCondition } from '../src/domain/condition.ts';
import type { SavedSum } from '../src/domain/sliding-sum.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { createWindowStore } from '../src/store/window.store.ts';

const { Binary } = driver;

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

/** Entries with the times from `first` to `last`. */
function counted(first: number, last: number, size = last - first + 1): SavedSumCondition {
  const entries = Float64Array.from({ length: 2 * (last - first + 1) }, (_, index) => first + Math.floor(index / 2));
  return { kind: 'event_count_gte', sum: { form: 'unit', entries, size, sampleIds: [`e${last}`] } };
}

/** The same of events that count more than 1. */
function countedSeveral(first: number, last: number, size = last - first + 1): SavedSumCondition {
  const entries = Float64Array.from({ length: 3 * (last - first + 1) }, (_, index) => first + Math.floor(index / 3));
  return { kind: 'event_count_gte', sum: { form: 'count', entries, size, sampleIds: [`e${last}`] } };
}

function spent(first: number, last: number, size = last - first + 1): SavedSumCondition {
  const entries = Float64Array.from({ length: 4 * (last - first + 1) }, (_, index) => first + Math.floor(index / 4));
  return { kind: 'spend_gte', sum: { form: 'amount', entries, size, sampleIds: [`e${last}`] } };
}

const windowsIn = (partition: number) => mongo.connection.collection('windows').find({ partition }).toArray();

const save = (partition: number, ...changed: SavedWindow[]) =>
  withTransaction(mongo.connection, (session) => windows.save(session, partition, changed));

async function loaded(partition: number): Promise<SavedWindow[]> {
  const found: SavedWindow[] = [];
  for await (const window of windows.load(partition, [provenTenantId('ws_1')])) found.push(window);
  return found;
}

describe.each([
  ['counts', counted, 1],
  ['counts several', countedSeveral, 7],
  ['adds up', spent, 2],
] as const)('a window that %s', (what, conditionOf, partition) => {
  const rule = `rule_${what}`;
  const SIZE = 200;
  const storedAs = ({ kind, sum }: SavedSumCondition, stored: SavedSum['stored']) =>
    windowOf(rule, { kind, sum: { ...sum, stored: stored! } });

  it('has the newest of the entries that were saved whole and in parts, each once', async () => {
    await save(partition, windowOf(rule, conditionOf(1, SIZE)));
    await save(partition, windowOf(rule, conditionOf(SIZE + 1, SIZE + 9, SIZE + 4)));
    // From a late one on: those that are newer come again.
    await save(partition, windowOf(rule, conditionOf(SIZE + 3, SIZE + 12, SIZE - 3)));
    expect(await loaded(partition)).toEqual([storedAs(conditionOf(16, SIZE + 12), { entries: SIZE + 19, parts: 2 })]);
    await save(partition, windowOf(rule, conditionOf(1, 0, SIZE - 3)));
    expect((await loaded(partition))[0]!.condition).toMatchObject({ sum: { size: SIZE - 3 } });
    expect(await windowsIn(partition)).toMatchObject([{ parts: { length: 2 } }]);
    expect(await windows.sizeOf(partition, provenTenantId('ws_1'))).toBeGreaterThan((SIZE + 19) * 16);
    await save(partition, windowOf(rule, conditionOf(3, SIZE - 1)));
    expect(await loaded(partition)).toEqual([storedAs(conditionOf(3, SIZE - 1), { entries: SIZE - 3, parts: 0 })]);
  });

  it('is found though its rule was deleted before a part was saved, so that what is left can be deleted', async () => {
    await save(partition + 2, windowOf(`${rule}_gone`, conditionOf(5, 6, SIZE)));
    expect(await loaded(partition + 2)).toEqual([windowOf(`${rule}_gone`, conditionOf(5, 6))]);
  });
});

describe('windows that 0.1 stored', () => {
  it('are read as they were', async () => {
    const stored = { tenantId: 'ws_1', partition: 5, revision: 1, lastFiredAt: null, metUntil: null };
    const binary = (...numbers: number[]) => new Binary(Buffer.from(Float64Array.from(numbers).buffer));
    const spans = [{ start: 1, end: 2 }];
    const windowsOfBefore: { _id: string; [field: string]: unknown }[] = [
      { _id: 'rule_1', ...stored, times: binary(7, 9), identities: binary(8, 6), sampleIds: ['e9', 'e7'], spans: [] },
      { _id: 'rule_2', ...stored, times: null, identities: null, sampleIds: [], spans },
    ];
    await mongo.connection.collection<{ _id: string }>('windows').insertMany(windowsOfBefore);
    const entries = Float64Array.of(7, 8, 9, 6);
    expect(await loaded(5)).toEqual([
      windowOf('rule_1', { kind: 'event_count_gte', sum: { form: 'unit', entries, size: 2, sampleIds: ['e9', 'e7'] } }),
      windowOf('rule_2', { kind: 'first_occurrence', spans }),
    ]);
  });
});
