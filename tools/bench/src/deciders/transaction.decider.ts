import { mongo } from 'mongoose';
import { ACCOUNTS, AMOUNT_MICROS, DAILY_BUDGET_MICROS } from './call.ts';
import type { Decider } from './decider.ts';

const DURABLE = { writeConcern: { w: 'majority', j: true } } as const;

/** One document per account, and a transaction over all three per decision. It does not recognize repeated requests. */
export async function createTransactionDecider(uri: string): Promise<Decider> {
  const client = await mongo.MongoClient.connect(uri);
  const accounts = client.db('bench_transaction').collection<{ _id: string; held: number }>('accounts');
  for (const _id of ACCOUNTS) await accounts.replaceOne({ _id }, { held: 0 }, { upsert: true });
  const add = (micros: number): Promise<void> =>
    client.withSession((session) =>
      session.withTransaction(async () => {
        for (const _id of ACCOUNTS) {
          const room = { _id, held: { $lte: DAILY_BUDGET_MICROS - micros } };
          const { modifiedCount } = await accounts.updateOne(room, { $inc: { held: micros } }, { session });
          if (modifiedCount !== 1) throw new Error('The call was denied');
        }
      }, DURABLE),
    );
  return {
    async decide(requestId) {
      await add(AMOUNT_MICROS);
      return requestId;
    },
    settle: async () => undefined,
    release: () => add(-AMOUNT_MICROS),
    close: () => client.close(),
  };
}
