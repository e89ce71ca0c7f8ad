import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultCacheDirectory, freePort, processIdentity, waitUntilGone } from '@tollkeeper/managed-process';
import { MongoClient } from 'mongodb';
import { findMongod } from '../src/mongod.binary.ts';
import { type EmbeddedMongo, startEmbeddedMongo } from '../src/index.ts';
import { type MongodProcess, REPLICA_SET, startMongod } from '../src/mongod.process.ts';
import { prepareReplicaSet } from '../src/replica-set.ts';

describe('the managed mongod', () => {
  let dataDirectory: string;
  let started: { stop(): Promise<void> }[];
  const lines: string[] = [];

  async function start(onUnexpectedExit?: (reason: string) => void): Promise<EmbeddedMongo> {
    const onProgress = (line: string) => void lines.push(line);
    const mongo = await startEmbeddedMongo({
      dataDirectory,
      onProgress,
      ...(onUnexpectedExit && { onUnexpectedExit }),
    });
    started.push(mongo);
    return mongo;
  }

  async function withClient<T>(uri: string, use: (client: MongoClient) => Promise<T>): Promise<T> {
    const client = await new MongoClient(uri).connect();
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }
  const insert = (uri: string, n: number) =>
    withClient(uri, (client) =>
      client
        .db('kept')
        .collection('items')
        .insertOne({ n }, { writeConcern: { w: 'majority' } }),
    );
  const count = (uri: string) => withClient(uri, (client) => client.db('kept').collection('items').countDocuments());

  /** A mongod on `dataDirectory` without set-up or owner. */
  async function startBare(): Promise<MongodProcess> {
    const search = { cacheDirectory: defaultCacheDirectory(), env: process.env, onProgress: () => undefined };
    const dbPath = join(dataDirectory, 'mongo');
    const keyFile = join(dataDirectory, 'mongod.key');
    await mkdir(dbPath, { recursive: true });
    if (!existsSync(keyFile)) await writeFile(keyFile, 'cafe'.repeat(16), { mode: 0o600 });
    const binary = await findMongod(search);
    return startMongod({ binary, dbPath, port: await freePort(), keyFile, cacheSizeMb: 256 });
  }

  /** A child process that owns the mongod of `dataDirectory`. */
  async function startOwner(): Promise<{ child: ChildProcess; uri: string; pid: number }> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts'), dataDirectory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { child, ...(JSON.parse(line) as { uri: string; pid: number }) };
  }

  beforeEach(async () => {
    started = [];
    lines.length = 0;
    dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-mongo-'));
  });
  afterEach(async () => {
    for (const mongo of started) await mongo.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('holds on to less memory than its cache when it is to be frugal', async () => {
    const mongo = await startEmbeddedMongo({ dataDirectory, frugal: true });
    started.push(mongo);
    const admin = { getParameter: 1, tcmallocMaxTotalThreadCacheBytes: 1 };
    const settings = await withClient(mongo.uri, (client) => client.db('admin').command(admin));
    expect(Number(settings['tcmallocMaxTotalThreadCacheBytes'])).toBe(8 * 1024 * 1024);
    const log = await withClient(mongo.uri, (client) => client.db('admin').command({ getCmdLineOpts: 1 }));
    expect(JSON.stringify(log['parsed'])).toContain('eviction_target=20');
  });

  it('takes transactions, and keeps what it holds for the next start on another port', async () => {
    const first = await start();
    await withClient(first.uri, (client) =>
      client.withSession((session) =>
        session.withTransaction(() => client.db('kept').collection('items').insertOne({ n: 1 }, { session })),
      ),
    );
    await first.stop();
    expect(await processIdentity(first.pid)).toBeNull();

    const second = await start();
    expect(second.uri).not.toBe(first.uri);
    expect(await count(second.uri)).toBe(1);
    await insert(second.uri, 2);
  });

  it('answers no one who does not know the password, which only the owner of the directory can read', async () => {
    const { uri } = await start();
    const open = uri.replace(/\/\/[^@]*@/, '//').replace(/\?.*/, '?directConnection=true');
    await expect(count(open)).rejects.toThrow(/authentication/);
    const secret = await readFile(join(dataDirectory, 'mongod.key'), 'utf8');
    expect(uri).toContain(secret);
    expect(lines.join()).not.toContain(secret);
  });

  it('refuses a second start on the data directory and names the process that has it', async () => {
    await start();
    await expect(startEmbeddedMongo({ dataDirectory })).rejects.toThrow(`in use by the process ${process.pid}`);
  });

  it('leaves no mongod behind when its owner is killed, and the next start has all that was acknowledged', async () => {
    const { child, uri, pid } = await startOwner();
    await insert(uri, 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await waitUntilGone(pid, 20_000)).toBe(true);
    expect(await count((await start()).uri)).toBe(1);
  });

  it('starts at once after its owner was killed, while the orphan is still there', async () => {
    const { child, uri, pid } = await startOwner();
    await insert(uri, 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await count((await start()).uri)).toBe(1);
    expect(await processIdentity(pid)).toBeNull();
  });

  it('stops an orphan that nothing else has stopped', async () => {
    await (await start()).stop();
    const orphan = await startBare();
    await start();
    expect(await processIdentity(orphan.pid)).toBeNull();
    expect(lines).toEqual([expect.stringContaining(`process ${orphan.pid}`)]);
  });

  it('leaves a process alone that has got the id of an earlier mongod', async () => {
    await (await start()).stop();
    const bystander = spawn('sleep', ['600']);
    await writeFile(join(dataDirectory, 'mongo', 'mongod.lock'), `${bystander.pid}\n`);
    await start();
    expect(await processIdentity(bystander.pid ?? 0)).not.toBeNull();
    bystander.kill();
  });

  it('reports its unexpected end, and starts again with what was acknowledged', async () => {
    const ended = new Promise<string>((resolve, reject) => {
      start(resolve)
        .then(async (first) => {
          await insert(first.uri, 1);
          process.kill(first.pid, 'SIGKILL');
        })
        .catch(reject);
    });
    expect(await ended).toBe('The managed mongod is gone: it ended with SIGKILL');
    await started[0]?.stop();
    expect(await count((await start()).uri)).toBe(1);
  });

  it('finishes a first start that was killed before the user was made', async () => {
    const mongod = await startBare();
    const member = { _id: 0, host: `127.0.0.1:${mongod.port}` };
    await withClient(`mongodb://${member.host}/?directConnection=true`, (client) =>
      client.db('admin').command({ replSetInitiate: { _id: REPLICA_SET, members: [member] } }),
    );
    process.kill(mongod.pid, 'SIGKILL');
    await mongod.exited;
    await insert((await start()).uri, 1);
  });

  it('waits with its configuration while another change of it is in progress', async () => {
    const { uri } = await start();
    const port = Number(new URL(uri).port);
    const password = await readFile(join(dataDirectory, 'mongod.key'), 'utf8');
    await Promise.all(Array.from({ length: 20 }, () => prepareReplicaSet([port], password)));
    await insert(uri, 1);
  });

  it('works on without its primary when it has three members, and takes it back when it is started again', async () => {
    const mongo = await startEmbeddedMongo({ dataDirectory, members: 3 });
    started.push(mongo);
    await insert(mongo.uri, 1);
    const lost = await mongo.primary();
    const { pid } = lost;
    await lost.kill();
    expect(await processIdentity(pid)).toBeNull();
    await insert(mongo.uri, 2);
    expect((await mongo.primary()).host).not.toBe(lost.host);
    await lost.restart();
    for (const member of mongo.members) if (member !== lost) await member.restart();
    await insert(mongo.uri, 3);
    await mongo.stop();

    await expect(start()).rejects.toThrow('has a replica set of 3 members, not 1');
    const again = await startEmbeddedMongo({ dataDirectory, members: 3 });
    started.push(again);
    expect(await count(again.uri)).toBe(3);
    await insert(again.uri, 4);
  });

  it('says what to do when its password file is not the one that the database was made with', async () => {
    await (await start()).stop();
    await writeFile(join(dataDirectory, 'mongod.key'), 'beef'.repeat(16), { mode: 0o600 });
    await expect(start()).rejects.toThrow(/mongod\.key is not the one .* Restore the right file/);
  });

  it('says why mongod did not start', async () => {
    await (await start()).stop();
    await writeFile(join(dataDirectory, 'mongo', 'WiredTiger.turtle'), 'not what it was');
    await expect(start()).rejects.toThrow(/mongod did not start: it ended with/);
  });
});
