import { join } from 'node:path';
import { BSON, type Collection, type MongoClient } from 'mongodb';
import { databaseOf, listDatabases, withMongo } from './client.ts';
import { readBatches, verifyFile } from './collection.file.ts';
import { exactDocument } from './exact.document.ts';
import { Failure } from './failure.ts';
import { type BackedUpCollection, type Backup, readManifest } from './manifest.ts';
import type { Progress } from './progress.ts';

interface RestoreOptions {
  uri: string;
  /** The directory of a backup. */
  from: string;
  /** The service whose database alone is restored; null for all databases. */
  only: string | null;
  progress: Progress;
}

/**
 * Restores into a MongoDB that has none of these databases. Nothing is written before the whole backup has proven
 * undamaged. Resolves to the restored part of the backup.
 */
export async function restore({ uri, from, only, progress }: RestoreOptions): Promise<Backup> {
  const backup = select(await readManifest(from), only);
  const { collections } = backup;
  for (const collection of collections) await verifyFile(join(from, collection.file), collection);
  return withMongo(uri, async (client, address) => {
    await requireEmpty(client, address, only);
    const totalBytes = collections.reduce((total, { bytes }) => total + bytes, 0);
    for (const collection of collections) {
      progress.begin(`${collection.database}.${collection.name}`, totalBytes);
      await restoreCollection(client, collection, { from, progress });
    }
    return backup;
  });
}

function select(backup: Backup, only: string | null): Backup {
  if (only === null) return backup;
  const collections = backup.collections.filter(({ database }) => database === databaseOf(only));
  if (collections.length > 0) return { ...backup, collections };
  const prefix = databaseOf('').length;
  const services = new Set(backup.collections.map(({ database }) => database.slice(prefix)));
  throw new Failure(`The backup has no database of ${only}. It has those of ${[...services].join(', ')}.`);
}

async function requireEmpty(client: MongoClient, address: string, only: string | null): Promise<void> {
  const existing = await listDatabases(client);
  const taken = only === null ? existing : existing.filter((name) => name === databaseOf(only));
  if (taken.length === 0) return;
  const drop = taken.map((name) => `db.getSiblingDB("${name}").dropDatabase()`).join('; ');
  throw new Failure(
    `MongoDB at ${address} already has ${taken.join(', ')}, and a restore replaces nothing. If their data may go, or is ` +
      `from a restore that did not finish, stop all services and drop them: mongosh "$MONGODB_URI" --eval '${drop}'`,
  );
}

async function restoreCollection(
  client: MongoClient,
  { database, name, options, indexes, documents, file }: BackedUpCollection,
  { from, progress }: Pick<RestoreOptions, 'from' | 'progress'>,
): Promise<void> {
  const db = client.db(database);
  await db.command({ create: name, ...BSON.EJSON.deserialize(options) });
  await insertAll(db.collection(name), join(from, file), progress);
  const stored = await db.collection(name).countDocuments({});
  if (stored !== documents) {
    const reason = `has ${stored} documents instead of ${documents}: something else writes there`;
    throw new Failure(`${database}.${name} ${reason}. Stop all services, drop the databases and restore again.`);
  }
  // After the documents, so that each is built at once, and no document expires while others are inserted.
  const built = indexes.map((index) => BSON.EJSON.deserialize(index)).filter((index) => !isImplied(index));
  if (built.length > 0) await db.command({ createIndexes: name, indexes: built });
}

async function insertAll(collection: Collection, file: string, progress: Progress): Promise<void> {
  for await (const batch of readBatches(file)) {
    const documents = batch.map(exactDocument);
    // The documents have their ids. A Map would not show the driver its own.
    await collection.insertMany(documents, { ordered: false, forceServerObjectId: true });
    progress.add(batch.reduce((total, { length }) => total + length, 0));
  }
}

/** Made with the collection. */
function isImplied(index: BSON.Document): boolean {
  return index['name'] === '_id_' || index['clustered'] === true;
}
