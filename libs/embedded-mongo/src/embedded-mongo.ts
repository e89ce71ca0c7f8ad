import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readOrCreateSecretFile } from '@tollkeeper/runtime';
import { lockDataDirectory } from './data-directory.lock.ts';
import { defaultCacheDirectory, findMongod } from './mongod.binary.ts';
import { startMongod, stopOrphan } from './mongod.process.ts';
import { mongodUri, prepareReplicaSet } from './replica-set.ts';

export interface EmbeddedMongoOptions {
  /** Holds the lock, the password and, in `mongo/`, the database files. Created when missing. */
  dataDirectory: string;
  /** Where a downloaded `mongod` is kept; by default the user's cache directory. */
  cacheDirectory?: string;
  /** Most memory of the database's cache, 256 unless given; `mongod` takes about 100 MB on top. */
  cacheSizeMb?: number;
  /** Takes `MONGOD_BINARY` and `PATH` from here; by default the process's environment. */
  env?: NodeJS.ProcessEnv;
  /** One line for a person, each time something takes long. */
  onProgress?: (line: string) => void;
  /** Called once, with a sentence that says how, when `mongod` ends without `stop()`. */
  onUnexpectedExit?: (reason: string) => void;
}

export interface EmbeddedMongo {
  /** Connection string without a database. Holds the password: never log it. */
  uri: string;
  pid: number;
  /** Shuts `mongod` down cleanly and frees the data directory. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a `mongod` of its own on `dataDirectory`: a replica set of one on loopback, journaled, with a password, so
 * that transactions work and no other user of the machine reads it. What was acknowledged outlives `kill -9` of
 * this process and of `mongod`; an orphan of an earlier run is stopped first. Throws `DataDirectoryInUseError` when
 * another process works there, and `MongodNotFoundError` when there is no `mongod` and none can be fetched.
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const {
    env = process.env,
    cacheSizeMb = 256,
    onProgress = () => undefined,
    onUnexpectedExit = () => undefined,
  } = options;
  const cacheDirectory = options.cacheDirectory ?? defaultCacheDirectory(env);
  const dataDirectory = resolve(options.dataDirectory);
  const dbPath = join(dataDirectory, 'mongo');
  const unlock = await lockDataDirectory(dataDirectory);
  try {
    const binary = await findMongod({ cacheDirectory, env, onProgress });
    await mkdir(dbPath, { recursive: true, mode: 0o700 });
    await stopOrphan(dbPath, onProgress);
    const keyFile = join(dataDirectory, 'mongod.key');
    // One secret for both: members of the set prove themselves with it, and it is the password of the only user.
    const password = await readOrCreateSecretFile(keyFile, () => randomBytes(32).toString('hex'));
    const mongod = await startMongod({ binary, dbPath, keyFile, cacheSizeMb });
    try {
      const died = mongod.exited.then((reason) => Promise.reject(new Error(`mongod failed: ${reason}`)));
      await Promise.race([prepareReplicaSet(mongod.port, password), died]);
    } catch (error) {
      await mongod.stop();
      throw error;
    }
    let stopping: Promise<void> | undefined;
    void mongod.exited.then((reason) => stopping ?? onUnexpectedExit(`The managed mongod is gone: ${reason}`));
    return {
      uri: mongodUri(mongod.port, password),
      pid: mongod.pid,
      stop: () => (stopping ??= mongod.stop().then(unlock)),
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}
