import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { halt } from '@tollkeeper/managed-process';
import mongoose from 'mongoose';
import { keepExpired } from './mongo.expiry.ts';
import type { TestMongo } from './mongo.ts';

/** A suite's own `mongod`, which it can stop. */
export interface BreakableMongo extends TestMongo {
  /** Valid from `beforeAll` on; never changes. */
  readonly uri: string;
  /** Suspends it with open connections (SIGSTOP). Resolves when it no longer answers. */
  hang(): Promise<void>;
  /** Resumes it after {@link hang}. */
  goOn(): Promise<void>;
  /** Kills it (SIGKILL); resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, at the same address and with its data. */
  restart(): Promise<void>;
  /** For the last `afterAll` of the suite, when nothing uses it any more. */
  stop(): Promise<void>;
}

/** As `useMongo`, on the suite's own `mongod`, which can hang, die and come back, with a cache of the given size. */
export function useBreakableMongo({ cacheSizeMb = 64 } = {}): BreakableMongo {
  const connection = mongoose.createConnection();
  const newDatabase = () => `test_${randomBytes(8).toString('hex')}`;
  const database = newDatabase();
  let dataDirectory = '';
  let mongod: EmbeddedMongo;

  const start = async (port?: number): Promise<void> => {
    mongod = await startEmbeddedMongo({ dataDirectory, cacheSizeMb, ...(port !== undefined && { port }) });
    await keepExpired(mongod.uri);
  };

  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-test-'));
    await start();
    await connection.openUri(mongod.uri, { dbName: database, autoIndex: false, autoCreate: false });
  });
  return {
    get uri() {
      return mongod.uri;
    },
    database,
    connection,
    newDatabase,
    hang: () => halt(mongod.pid),
    async goOn() {
      process.kill(mongod.pid, 'SIGCONT');
    },
    async kill() {
      process.kill(mongod.pid, 'SIGKILL');
      await mongod.stop();
    },
    async stop() {
      await connection.close();
      await mongod.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
    restart: () => start(Number(new URL(mongod.uri).port)),
  };
}
