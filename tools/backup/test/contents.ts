import type { BSON, MongoClient } from 'mongodb';
import { listDatabases } from '../src/client.ts';

/** Everything that the databases of Tollkeeper have: options, indexes, and each document byte for byte. */
export async function contentsOf(client: MongoClient): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const database of await listDatabases(client)) {
    const db = client.db(database);
    for (const { name, options } of await db.listCollections({}, { nameOnly: false }).toArray()) {
      const documents: string[] = [];
      for await (const bytes of db.collection(name).find({}, { raw: true }) as AsyncIterable<Uint8Array>) {
        documents.push(Buffer.from(bytes).toString('latin1'));
      }
      const indexes = await db.collection(name).listIndexes().toArray();
      const byName = (a: BSON.Document, b: BSON.Document) => (a['name'] < b['name'] ? -1 : 1);
      contents[`${database}.${name}`] = { options, indexes: indexes.toSorted(byName), documents: documents.toSorted() };
    }
  }
  return contents;
}
