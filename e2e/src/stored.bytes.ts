import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { commandLine } from '@tollkeeper/managed-process';
import { mongo } from 'mongoose';

/** Bytes that were written, and where they are. */
interface StoredBytes {
  place: string;
  bytes: Buffer;
}

/** Databases that only `mongod` itself writes. Nobody may read all of their collections. */
const OF_MONGOD = new Set(['admin', 'config', 'local']);
/** Has every document that was ever written, also those that were replaced or deleted. */
const LOG_OF_WRITES = 'local.oplog.rs';

/** Every document of every collection of the managed `mongod`, and of its log of writes, and what is packed in it. */
export async function* storedDocuments(dataDirectory: string, mongodPid: number): AsyncGenerator<StoredBytes> {
  const password = (await readFile(join(dataDirectory, 'mongod.key'), 'utf8')).trim();
  const port = /--port (\d+)/.exec((await commandLine(mongodPid)) ?? '')?.[1];
  if (port === undefined) throw new Error(`Process ${mongodPid} is no mongod.`);
  const client = new mongo.MongoClient(`mongodb://127.0.0.1:${port}`, {
    directConnection: true,
    auth: { username: 'tollkeeper', password },
  });
  try {
    const { databases } = await client.db('admin').admin().listDatabases();
    for (const { name } of databases) {
      const db = client.db(name);
      for (const collection of await db.listCollections().toArray()) {
        const place = `${name}.${collection.name}`;
        if (OF_MONGOD.has(name) && place !== LOG_OF_WRITES) continue;
        for await (const document of db.collection(collection.name).find({}, { promoteValues: false })) {
          yield { place, bytes: Buffer.from(mongo.BSON.serialize(document)) };
          for (const unpacked of unpackedIn(document)) yield { place: `${place}, packed`, bytes: unpacked };
        }
      }
    }
  } finally {
    await client.close();
  }
}

/** What the compressed bytes in a document are, at any depth. */
function* unpackedIn(value: unknown): Generator<Buffer> {
  if (value instanceof mongo.Binary) {
    const unpacked = unpack(Buffer.from(value.buffer.subarray(0, value.position)));
    if (unpacked !== undefined) yield unpacked;
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) yield* unpackedIn(each);
  }
}

/** By the first bytes of Zstandard and gzip. */
function unpack(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 4) return undefined;
  if (bytes.readUInt32LE(0) === 0xfd2fb528) return zstdDecompressSync(bytes);
  return bytes.readUInt16BE(0) === 0x1f8b ? gunzipSync(bytes) : undefined;
}

/** Every file of the directory, except those that `mongod` removes meanwhile. */
export async function* storedFiles(directory: string): AsyncGenerator<StoredBytes> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (bytes !== undefined) yield { place: `file ${relative(directory, path)}`, bytes };
  }
}
