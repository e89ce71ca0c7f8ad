import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defaultCacheDirectory, freePort } from '@tollkeeper/managed-process';
import { readOrCreateSecretFile } from '@tollkeeper/runtime';
import { lockDataDirectory } from './data-directory.lock.ts';
import { type ManagedMember, type MongoMember, startMember } from './mongo.member.ts';
import { findMongod } from './mongod.binary.ts';
import { findPrimary, mongodUri, prepareReplicaSet } from './replica-set.ts';

export interface EmbeddedMongoOptions {
  /** Holds the lock, the password and, in `mongo/` (`mongo-2/`, `mongo-3/`), the database files. Created if missing. */
  dataDirectory: string;
  /**
   * 1 by default. With 3, the set survives the loss of a member. Must be the same at each start on the data directory.
   */
  members?: 1 | 3;
  /** Cache for a downloaded `mongod`; by default the user's cache directory. */
  cacheDirectory?: string;
  /** Largest cache of each member, 256 by default; `mongod` takes about 100 MB on top. */
  cacheSizeMb?: number;
  /** Returns memory between bursts, at some cost in speed, for a database on a small shared machine. */
  frugal?: boolean;
  /** Port of the first member on loopback; a free one by default. */
  port?: number;
  /** Source of `MONGOD_BINARY` and `PATH`; the process's environment by default. */
  env?: NodeJS.ProcessEnv;
  /** Gets a readable line whenever something takes long. */
  onProgress?: (line: string) => void;
  /** Called once if a `mongod` ends unexpectedly, with a sentence that says how. */
  onUnexpectedExit?: (reason: string) => void;
}

export interface EmbeddedMongo {
  /** Connection string without a database. Contains the password: never log it. */
  uri: string;
  /** Process id of the first member. */
  readonly pid: number;
  readonly members: readonly MongoMember[];
  /** The member that accepts writes. Rejects while there is none, as for about ten seconds after the loss of one. */
  primary(): Promise<MongoMember>;
  /** Shuts every member down cleanly and unlocks the data directory. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a replica set on `dataDirectory`: one `mongod` or three on loopback, journaled, with a password, so that
 * transactions work and no other user of the machine can read it. Acknowledged writes survive `kill -9` of this process
 * and of `mongod`; an orphan of an earlier run is stopped first. Throws `DataDirectoryInUseError` if another process
 * uses the directory, and `MongodNotFoundError` if there is no `mongod` and none can be downloaded.
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const { onUnexpectedExit = () => undefined } = options;
  const dataDirectory = resolve(options.dataDirectory);
  const unlock = await lockDataDirectory(dataDirectory);
  const members: ManagedMember[] = [];
  const stopAll = async () => {
    await Promise.all(members.map((member) => member.stop()));
    await unlock();
  };
  try {
    const password = await startMembers(options, dataDirectory, members);
    const [first, ...others] = members as [ManagedMember, ...ManagedMember[]];
    const ports: [number, ...number[]] = [first.port, ...others.map(({ port }) => port)];
    const died = members.map(({ lost }) => lost.then((how) => Promise.reject(new Error(`mongod failed: ${how}`))));
    await Promise.race([prepareReplicaSet(ports, password), ...died]);

    void Promise.race(members.map(({ lost }) => lost)).then((how) =>
      onUnexpectedExit(`The managed mongod is gone: ${how}`),
    );
    let stopping: Promise<void> | undefined;
    return {
      uri: mongodUri(ports, password),
      members,
      get pid() {
        return first.pid;
      },
      async primary() {
        const port = await findPrimary(ports);
        const member = members.find((candidate) => candidate.port === port);
        if (member === undefined) throw new Error('the replica set has no primary');
        return member;
      },
      stop: () => (stopping ??= stopAll()),
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** Starts the members, adds each to `started` as soon as it runs, and resolves to their password. */
async function startMembers(
  options: EmbeddedMongoOptions,
  dataDirectory: string,
  started: ManagedMember[],
): Promise<string> {
  const { env = process.env, cacheSizeMb = 256, onProgress = () => undefined, members = 1, frugal = false } = options;
  const cacheDirectory = options.cacheDirectory ?? defaultCacheDirectory(env);
  const binary = await findMongod({ cacheDirectory, env, onProgress });
  const keyFile = join(dataDirectory, 'mongod.key');
  // One secret for both: the members of the set authenticate with it, and it is the password of the only user.
  const password = await readOrCreateSecretFile(keyFile, () => randomBytes(32).toString('hex'));
  for (let number = 1; number <= members; number += 1) {
    const dbPath = join(dataDirectory, number === 1 ? 'mongo' : `mongo-${number}`);
    await mkdir(dbPath, { recursive: true, mode: 0o700 });
    const port = (number === 1 ? options.port : undefined) ?? (await freePort());
    started.push(await startMember({ binary, dbPath, port, keyFile, cacheSizeMb, frugal }, onProgress));
  }
  return password;
}
