import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { halt } from '@tollkeeper/managed-process';
import mongoose from 'mongoose';
import type { TestMongo } from './mongo.ts';

/** A `mongod` that a suite has for itself, to stop it. */
export interface BreakableMongo extends TestMongo {
  /** Valid from `beforeAll` on, and the same for good. */
  readonly uri: string;
  /** Stops it from answering, its connections open (SIGSTOP); resolves when it answers nothing more. */
  hang(): Promise<void>;
  /** Lets it go on after {@link hang}. */
  goOn(): Promise<void>;
  /** Kills it (SIGKILL); resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, at the same address and with its data. */
  restart(): Promise<void>;
  /** For the last `afterAll` of the suite, when nothing uses it any more. */
  stop(): Promise<void>;
}

/**
 * As `useMongo`, on a `mongod` of the suite's own that can hang, die and come back, and has as little cache as the
 * suite asks for.
 */
export function useBreakableMongo({ cacheSizeMb = 64 } = {}): BreakableMongo {
  const connection = mongoose.createConnection();
  const newDatabase = () => `test_${randomBytes(8).toString('hex')}`;
  const database = newDatabase();
  let dataDirectory = '';
  let mongod: EmbeddedMongo;

  const start = async (port?: number): Promise<void> => {
    mongod = await startEmbeddedMongo({ dataDirectory, cacheSizeMb, ...(port !== undefined && { port }) });
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
