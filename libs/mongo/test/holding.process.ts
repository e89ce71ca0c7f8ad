import { connectMongo, withTransaction } from '../src/index.ts';
import { createLogger } from '@tollkeeper/runtime';

/** A process that writes an item in a transaction, reports it, and then does nothing more. */
const [uri = '', database = ''] = process.argv.slice(2);
const mongo = connectMongo({ uri, database, logger: createLogger({ service: 'holding', level: 'silent' }) });
await mongo.start();
await withTransaction(mongo.connection, async (session) => {
  const items = mongo.connection.collection<{ _id: number }>('items');
  await items.updateOne({ _id: 1 }, { $set: { by: 'the killed one' } }, { session });
  process.send?.('written');
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
});
