import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { MongoClient } from 'mongodb';
import { DATABASES, listDatabases } from '../src/client.ts';
import { runCommand } from '../src/run.ts';

interface Ended {
  code: number;
  /** What it printed, on both outputs. */
  text: string;
}

interface BackupStage {
  readonly uri: string;
  client(): MongoClient;
  /** A path below a directory of the test that does not exist yet. */
  path(name?: string): string;
  /** Runs `backup` or `restore` as a person does, with MONGODB_URI set. */
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  /** Runs it and requires success. */
  succeed(...args: string[]): Promise<string>;
  dropAll(): Promise<void>;
  /** Of the server, also those of others. */
  databases(): Promise<string[]>;
}

/** A MongoDB in which each service has a database with one offset, before each test. */
export function useBackupStage(): BackupStage {
  const mongo = useMongo();
  let client: MongoClient;
  let directory: string;

  async function dropAll(): Promise<void> {
    for (const name of await listDatabases(client)) await client.db(name).dropDatabase();
  }

  beforeAll(async () => {
    client = await new MongoClient(mongo.uri).connect();
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-backup-'));
    await dropAll();
    for (const name of DATABASES) {
      await client
        .db(name)
        .collection<{ _id: string }>('consumer_offsets')
        .insertOne({ _id: `${name}/topic/0` });
    }
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  afterAll(async () => {
    await dropAll();
    await client.close();
  });

  async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    let text = '';
    const add = (line: string) => void (text += `${line}\n`);
    const code = await runCommand(args, { MONGODB_URI: mongo.uri, ...env }, { print: add, say: add });
    return { code, text };
  }

  return {
    get uri() {
      return mongo.uri;
    },
    client: () => client,
    path: (name = 'backup') => join(directory, name),
    run,
    async succeed(...args) {
      const { code, text } = await run(args);
      if (code !== 0) throw new Error(text);
      return text;
    },
    dropAll,
    async databases() {
      const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
      return databases.map(({ name }) => name);
    },
  };
}
