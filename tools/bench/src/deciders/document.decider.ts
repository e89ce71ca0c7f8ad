import { mongo } from 'mongoose';
import { ACCOUNTS, AMOUNT_MICROS, DAILY_BUDGET_MICROS } from './call.ts';
import type { Decider } from './decider.ts';

const DURABLE = { writeConcern: { w: 'majority', j: true } } as const;
const ROOM = { $lte: DAILY_BUDGET_MICROS - AMOUNT_MICROS };

/**
 * All three accounts in one document, with one conditional update per decision. It does not recognize repeated
 * requests.
 */
export async function createDocumentDecider(uri: string): Promise<Decider> {
  const client = await mongo.MongoClient.connect(uri);
  const workspaces = client.db('bench_document').collection<{ _id: string }>('workspaces');
  const amounts = (micros: number) => Object.fromEntries(ACCOUNTS.map((account) => [account, micros]));
  await workspaces.replaceOne({ _id: 'bench' }, amounts(0), { upsert: true });
  const room = Object.fromEntries(ACCOUNTS.map((account) => [account, ROOM]));
  const add = async (filter: object, micros: number): Promise<void> => {
    const { modifiedCount } = await workspaces.updateOne(
      { _id: 'bench', ...filter },
      { $inc: amounts(micros) },
      DURABLE,
    );
    if (modifiedCount !== 1) throw new Error('The call was denied');
  };
  return {
    async decide(requestId) {
      await add(room, AMOUNT_MICROS);
      return requestId;
    },
    settle: async () => undefined,
    release: () => add({}, -AMOUNT_MICROS),
    close: () => client.close(),
  };
}
