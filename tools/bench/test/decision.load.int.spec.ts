import { useMongo } from '@tollkeeper/testing';
import { describe, expect, it } from '@jest/globals';
import { mongo } from 'mongoose';
import { AMOUNT_MICROS } from '../src/deciders/call.ts';
import { createDecider } from '../src/deciders/decider.settings.ts';
import { createDecisionLoader } from '../src/decision.load.ts';

const { uri } = useMongo();
const COUNT = 60;

describe.each([
  ['document', 'bench_document', 'workspaces', 'agent'],
  ['transaction', 'bench_transaction', 'accounts', 'held'],
] as const)('the load on a %s', (kind, database, collection, field) => {
  it.each([undefined, 200])('counts as many decisions as are made, and frees them; at rate %s', async (perSecond) => {
    const decider = await createDecider({ kind, uri });
    const client = await mongo.MongoClient.connect(uri);
    const held = async () => (await client.db(database).collection(collection).findOne())?.[field] as number;
    try {
      const loader = createDecisionLoader(decider, 'test');
      const load = { callers: 4, seconds: 60, decisions: COUNT, ...(perSecond && { perSecond }) };
      expect((await loader.run(load)).decisions).toBe(COUNT);
      expect(await held()).toBe(COUNT * AMOUNT_MICROS);
      await loader.free(4);
      expect(await held()).toBe(0);
    } finally {
      await client.close();
      await decider.close();
    }
  });
});
