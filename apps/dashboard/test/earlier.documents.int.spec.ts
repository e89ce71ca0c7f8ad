import { beforeAll, describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { KATHMANDU_TENANT, useDashboard } from './dashboard.stack.ts';
import { after, allAnswers, before, recordEarlier } from './earlier.month.ts';

const mongo = useMongo();
const [fresh, upgraded, old] = [useDashboard(mongo), useDashboard(mongo), useDashboard(mongo)];
const untouched = useDashboard(mongo);
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
    await old.restart();
    for (const collection of ['chunks', 'blocked_events', 'rollups']) expect(await stored(old, collection)).toBe(0);
    expect(await allAnswers(old)).toEqual(expected);
  });

  it('has them when 0.1 recorded most of it, and this release the rest, which writes to nothing of 0.1', async () => {
    const database = mongo.connection.useDb(upgraded.database);
    const content = () =>
      Promise.all(
        ['events', 'runs', 'buckets'].map(async (name) => {
          const collection = database.collection(name);
          return [await collection.indexes(), await collection.find({}).sort({ _id: 1 }).toArray()];
        }),
      );
    await recordEarlier(database, before);
    const left = await content();
    await upgraded.restart();
    await upgraded.report(KATHMANDU_TENANT, after);
    expect(await allAnswers(upgraded)).toEqual(expected);
    expect(await content()).toEqual(left);
  });

  it('asks nothing of 0.1 and makes nothing of it where there is nothing of it', async () => {
    const database = mongo.connection.useDb(untouched.database);
    await database.db!.command({ profile: 2 });
    await untouched.report(KATHMANDU_TENANT, [...before, ...after]);
    expect(await allAnswers(untouched)).toEqual(expected);
    await database.db!.command({ profile: 0 });
    const profile = database.collection('system.profile');
    expect(await profile.countDocuments({ 'command.find': 'chunks' })).toBeGreaterThan(0);
    const ofEarlier = ['events', 'runs', 'buckets'].map((name) => `${untouched.database}.${name}`);
    expect(await profile.find({ ns: { $in: ofEarlier } }).toArray()).toEqual([]);
    await profile.drop();
    const collections = await database.db!.listCollections({}, { nameOnly: true }).toArray();
    const names = ['blocked_events', 'chunks', 'consumer_offsets', 'names', 'rollups'];
    expect(collections.map(({ name }) => name).sort()).toEqual(names);
  });
});
