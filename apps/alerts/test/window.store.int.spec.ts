import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import type { SavedCondition } from '../src/domain/condition.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { MIN_SAVED_IN_PARTS } from '../src/domain/sliding-sum.ts';
import { createWindowStore } from '../src/store/window.store.ts';

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

/** Entries with the times from `first` to `last`. */
function counted(first: number, last: number, size = last - first + 1): SavedCondition {
  const entries = Float64Array.from({ length: 2 * (last - first + 1) }, (_, index) => first + Math.floor(index / 2));
  return { kind: 'event_count_gte', sum: { entries, size, sampleIds: [`e${last}`] } };
}

function spent(first: number, last: number, size = last - first + 1): SavedCondition {
  const entries = Float64Array.from({ length: 4 * (last - first + 1) }, (_, index) => first + Math.floor(index / 4));
  return { kind: 'spend_gte', sum: { entries, size, sampleIds: [`e${last}`] } };
}

const save = (partition: number, ...changed: SavedWindow[]) =>
  withTransaction(mongo.connection, (session) => windows.save(session, partition, changed));

async function loaded(partition: number): Promise<SavedWindow[]> {
  let found: SavedWindow[] = [];
  await withTransaction(mongo.connection, async (session) => {
    found = await windows.load(session, partition);
  });
  return found;
}

describe.each([
  ['counts', counted],
  ['adds up', spent],
] as const)('a window that %s', (what, conditionOf) => {
  const rule = `rule_${what}`;
  const partition = conditionOf === counted ? 1 : 2;
  const SIZE = MIN_SAVED_IN_PARTS;

  it('has the newest of the entries that were saved whole and in parts, each once', async () => {
    await save(partition, windowOf(rule, conditionOf(1, SIZE)));
    await save(partition, windowOf(rule, conditionOf(SIZE + 1, SIZE + 9, SIZE + 4)));
    // From a late one on: those that are newer come again.
    await save(partition, windowOf(rule, conditionOf(SIZE + 3, SIZE + 12, SIZE - 3)));
    expect(await loaded(partition)).toEqual([windowOf(rule, conditionOf(16, SIZE + 12))]);
    await save(partition, windowOf(rule, conditionOf(1, SIZE + 1)));
    expect(await loaded(partition)).toEqual([windowOf(rule, conditionOf(1, SIZE + 1))]);
    await save(partition, windowOf(rule, conditionOf(3, SIZE - 1)));
    expect(await loaded(partition)).toEqual([windowOf(rule, conditionOf(3, SIZE - 1))]);
  });

  it('is found though it was deleted before a part of it was saved, with what can be deleted with it', async () => {
    await save(partition + 2, windowOf(`${rule}_gone`, conditionOf(5, 6, SIZE)));
    expect(await loaded(partition + 2)).toEqual([windowOf(`${rule}_gone`, conditionOf(5, 6))]);
  });
});
