import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BSON, type ClientSession, type CollectionInfo, type MongoClient, type Timestamp } from 'mongodb';
import { DATABASES, databaseOf, listDatabases, withMongo } from './client.ts';
import { writeDocuments } from './collection.file.ts';
import { Failure } from './failure.ts';
import { type BackedUpCollection, type Backup, writeManifest } from './manifest.ts';
import type { Progress } from './progress.ts';

/** About the size of an answer of the server: the largest, 16 MB, would take several times as much memory. */
const BATCH_BYTES = 2 * 1024 * 1024;

interface BackupOptions {
  uri: string;
  /** A new or empty directory. */
  to: string;
  progress: Progress;
}

interface Found {
  database: string;
  info: CollectionInfo;
}

/**
 * Copies all databases as they were at one point in time, while services write. So a service's data and the offsets
 * beside it fit together, and so do those of all services and, if it is in this MongoDB, the event log.
 */
export function backUp({ uri, to, progress }: BackupOptions): Promise<Backup> {
  return withMongo(uri, async (client, address) => {
    const databases = await requireDatabases(client, address);
    await makeDirectory(to);
    const totalBytes = await totalOf(client, databases);
    return client.withSession({ snapshot: true }, async (session) => {
      const takenAt = await fixPointInTime(client, session);
      const channelKeys = await findChannelKeys(client, session);
      const collections: BackedUpCollection[] = [];
      // Listed as they are now. One that is newer than the point in time has no data yet, or is refused by the server.
      for (const { database, info } of await listCollections(client, databases)) {
        progress.begin(`${database}.${info.name}`, totalBytes);
        collections.push(await backUpCollection({ client, session, database, info }, { to, progress }));
      }
      const { version } = await client.db('admin').command({ buildInfo: 1 });
      return writeManifest(to, { takenAt, mongodb: String(version), channelKeys, collections });
    });
  });
}

async function requireDatabases(client: MongoClient, address: string): Promise<string[]> {
  const found = await listDatabases(client);
  const missing = DATABASES.filter((name) => !found.includes(name));
  if (missing.length === 0) return found;
  throw new Failure(
    `MongoDB at ${address} shows no ${missing.join(', ')}, so the backup would not be complete. Check that the address ` +
      'is that of the services, that each of them has run once, and that the user may read their databases.',
  );
}

async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length === 0) return;
  throw new Failure(`${directory} is not empty. Name a new directory, such as one with the date and the time.`);
}

async function totalOf(client: MongoClient, databases: readonly string[]): Promise<number> {
  const stats = await Promise.all(databases.map((name) => client.db(name).stats()));
  return stats.reduce((total, { dataSize }) => total + Number(dataSize), 0);
}

/** The first read of the session: all further ones show the data of the same time, which is returned. */
async function fixPointInTime(client: MongoClient, session: ClientSession): Promise<string> {
  const [database = ''] = DATABASES;
  const read = { find: 'consumer_offsets', limit: 1, singleBatch: true };
  const { cursor } = await client.db(database).command(read, { session });
  const { atClusterTime } = cursor as { atClusterTime: Timestamp };
  return new Date(atClusterTime.getHighBitsUnsigned() * 1000).toISOString();
}

/** In the order of their names. Refuses what cannot be copied document by document. */
async function listCollections(client: MongoClient, databases: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const database of databases.toSorted()) {
    const all = await client.db(database).listCollections({}, { nameOnly: false }).toArray();
    // MongoDB's own, such as the output of its profiler.
    const own = all.filter(({ name }) => !name.startsWith('system.'));
    for (const info of own.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const kind = info.options?.['capped'] === true ? 'capped collection' : info.type;
      if (kind !== 'collection') {
        const way = 'Back up snapshots of the volumes instead';
        throw new Failure(`${database}.${info.name} is a ${kind}, which this backup cannot copy. ${way}.`);
      }
      found.push({ database, info });
    }
  }
  return found;
}

async function backUpCollection(
  { client, session, database, info }: Found & { client: MongoClient; session: ClientSession },
  { to, progress }: Pick<BackupOptions, 'to' | 'progress'>,
): Promise<BackedUpCollection> {
  const { name, options = {} } = info;
  const collection = client.db(database).collection(name);
  const indexes = await collection.listIndexes().toArray();
  const { avgObjSize = 1 } = await client.db(database).command({ collStats: name });
  const batchSize = Math.max(1, Math.floor(BATCH_BYTES / Number(avgObjSize)));
  // The bytes as they are stored.
  const documents = collection.find({}, { session, raw: true, batchSize }) as AsyncIterable<Uint8Array>;
  const file = `${database}.${encodeURIComponent(name)}.bson.gz`;
  const written = await writeDocuments(join(to, file), documents, progress.add);
  const toJson = (value: object) => BSON.EJSON.serialize(value, { relaxed: false });
  return { database, name, options: toJson(options), indexes: indexes.map(toJson), file, ...written };
}

/** What is encrypted, by collections. Restored, it is of no use without its keys, which are in no database. */
const ENCRYPTED = [
  ['notifier', 'channels'],
  ['dashboard', 'export_settings'],
] as const;

async function findChannelKeys(client: MongoClient, session: ClientSession): Promise<string[]> {
  const ids = new Set<string>();
  for (const [service, collection] of ENCRYPTED) {
    const found = client.db(databaseOf(service)).collection(collection);
    for (const id of await found.distinct('keyId', {}, { session })) ids.add(String(id));
  }
  return [...ids].toSorted();
}
