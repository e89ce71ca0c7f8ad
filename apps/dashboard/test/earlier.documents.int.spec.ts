import { beforeAll, describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { KATHMANDU_TENANT, useDashboard } from './dashboard.stack.ts';
import { after, allAnswers, before, recordEarlier } from './earlier.month.ts';

const mongo = useMongo();
const [fresh, upgraded, old] = [useDashboard(mongo), useDashboard(mongo), useDashboard(mongo)];
const stored = (of: typeof fresh, collection: string) =>
  mongo.connection.useDb(of.database).collection(collection).countDocuments({});

describe('a month of events, with late, repeated and blocked ones', () => {
  let expected: Awaited<ReturnType<typeof allAnswers>>;
  beforeAll(async () => {
    await fresh.report(KATHMANDU_TENANT, [...before, ...after]);
    expected = await allAnswers(fresh);
  });

  it('has byte for byte the answers of this release when release 0.1 recorded all of it', async () => {
    await recordEarlier(mongo.connection.useDb(old.database), [...before, ...after]);
    expect(await stored(old, 'chunks')).toBe(0);
    expect(await stored(old, 'rollups')).toBe(0);
    expect(await allAnswers(old)).toEqual(expected);
  });

  it('has them when 0.1 recorded most of it, and this release the rest', async () => {
    await recordEarlier(mongo.connection.useDb(upgraded.database), before);
    await upgraded.report(KATHMANDU_TENANT, after);
    expect(await allAnswers(upgraded)).toEqual(expected);
  });
});
