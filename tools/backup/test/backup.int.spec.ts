import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BSON, Long, Timestamp } from 'mongodb';
import { DATABASES, listDatabases, withMongo } from '../src/client.ts';
import { contentsOf } from './contents.ts';
import { useBackupStage } from './stage.ts';

const stage = useBackupStage();
const { path, run, succeed } = stage;
const db = (service: string) => stage.client().db(`tollkeeper_${service}`);

describe('a backup that is restored', () => {
  it('has the same collections with their options and indexes, and each document byte for byte', async () => {
    await db('audit').createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true } });
    await db('audit').createCollection('strict', {
      validator: { $jsonSchema: { required: ['n'] } },
      collation: { locale: 'de', strength: 2 },
      storageEngine: { wiredTiger: { configString: 'block_compressor=zstd' } },
    });
    await db('audit').createCollection('empty');
    await db('audit').collection('strict').insertOne({ n: 1 });
    await db('audit').collection<{ _id: number; n: number }>('clustered').insertOne({ _id: 7, n: 1 });
    await db('audit')
      .collection('clustered')
      .createIndexes([
        { key: { at: 1 }, expireAfterSeconds: 86_400 },
        { key: { b: -1, a: 1 }, unique: true, partialFilterExpression: { a: { $gt: new Date(5) } } },
        { key: { c: 1 }, sparse: true, name: 'its own name' },
      ]);
    const odd = db('log').collection('odd/names');
    await odd.insertMany([VALUES, IN_ORDER, { nested: [IN_ORDER, { deep: IN_ORDER }] }], { forceServerObjectId: true });
    // More than a batch, in number and in size.
    await odd.insertMany(Array.from({ length: 12_000 }, (_, n) => ({ n, text: 'x'.repeat(n % 300) })));
    for (let n = 0; n < 3; n += 1) await odd.insertOne({ large: randomBytes(9_000_000) });
    const before = await contentsOf(stage.client());
    expect(Object.keys(before)).toHaveLength(DATABASES.length + 4);

    await succeed('backup', '--to', path());
    await stage.dropAll();
    const text = await succeed('restore', '--from', path());
    expect(await contentsOf(stage.client())).toEqual(before);
    expect(text).toContain(`Restored ${12_000 + 8 + DATABASES.length} documents`);
  });

  it('shows all databases at one point in time, while their services write', async () => {
    // One document of each service, before and after much that takes a while to read.
    for (let n = 0; n < 5; n += 1)
      await db('budgets')
        .collection('much')
        .insertOne({ bytes: randomBytes(8_000_000) });
    const count = (service: string, name: string, n: number, options = {}) =>
      db(service)
        .collection<{ _id: string; n: number }>(name)
        .updateOne({ _id: 'count' }, { $set: { n } }, { upsert: true, ...options });
    let counted = 0;
    const next = async () => {
      counted += 1;
      await count('alerts', 'before', counted);
      await count('notifier', 'after', counted);
      await stage.client().withSession((session) =>
        session.withTransaction(async () => {
          await count('alerts', 'effects', counted, { session });
          await count('notifier', 'offsets', counted, { session });
        }),
      );
    };
    await next();
    let writing = true;
    const writer = (async () => {
      while (writing) await next();
    })();
    await succeed('backup', '--to', path());
    writing = false;
    await writer;
    await stage.dropAll();
    await succeed('restore', '--from', path());
    const restored = async (service: string, name: string) =>
      (await db(service).collection<{ _id: string; n: number }>(name).findOne({ _id: 'count' }))?.n ?? 0;
    const [before, after] = [await restored('alerts', 'before'), await restored('notifier', 'after')];
    expect(before - after).toBeGreaterThanOrEqual(0);
    expect(before - after).toBeLessThanOrEqual(1);
    expect(await restored('alerts', 'effects')).toBe(await restored('notifier', 'offsets'));
    // Many were written during the backup.
    expect(counted - before).toBeGreaterThan(5);
  });

  it('is made and restored by a user with the rights of the services', async () => {
    const roles = [...DATABASES, 'tollkeeper_log'].map((name) => ({ role: 'readWrite', db: name }));
    const password = await newUser('services', roles);
    const before = await contentsOf(stage.client());
    const env = { MONGODB_URI: uriOf('services', password) };
    expect(await run(['backup', '--to', path()], env)).toMatchObject({ code: 0 });
    await stage.dropAll();
    expect(await run(['restore', '--from', path()], env)).toMatchObject({ code: 0 });
    expect(await contentsOf(stage.client())).toEqual(before);
  });

  it('can be the database of one service, while the others keep theirs', async () => {
    await succeed('backup', '--to', path());
    await db('alerts').dropDatabase();
    await db('keys').collection('consumer_offsets').deleteMany({});
    expect((await run(['restore', '--from', path(), '--only', 'alarms'])).text).toContain(
      'It has those of alerts, audit',
    );
    await succeed('restore', '--from', path(), '--only', 'alerts');
    expect(await db('alerts').collection('consumer_offsets').countDocuments()).toBe(1);
    expect(await db('keys').collection('consumer_offsets').countDocuments()).toBe(0);
  });

  it('says which keys its channels and exports need, since it does not have them', async () => {
    await db('notifier')
      .collection('channels')
      .insertMany([{ keyId: 'k2' }, { keyId: 'k1' }, { keyId: 'k2' }]);
    await db('dashboard').collection('export_settings').insertOne({ keyId: 'k3' });
    const keys = 'need these keys of CHANNEL_ENCRYPTION_KEYS, which are not in it: k1, k2, k3.';
    expect(await succeed('backup', '--to', path())).toContain(keys);
    await stage.dropAll();
    expect(await succeed('restore', '--from', path())).toContain(keys);
  });
});

describe('a backup', () => {
  it('can be read by its owner alone, under any umask', async () => {
    await succeed('backup', '--to', path());
    expect((await stat(path())).mode & 0o777).toBe(0o700);
    const files = await readdir(path());
    expect(files).toHaveLength(DATABASES.length + 1);
    for (const file of files) expect((await stat(join(path(), file))).mode & 0o777).toBe(0o600);
  });

  it('is not written over another one', async () => {
    await succeed('backup', '--to', path());
    const manifest = await readFile(join(path(), 'manifest.json'), 'utf8');
    const { code, text } = await run(['backup', '--to', path()]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringMatching(/is not empty\. Name a new directory/) });
    expect(await readFile(join(path(), 'manifest.json'), 'utf8')).toBe(manifest);
  });

  it('is refused while a database is missing or hidden from the user', async () => {
    const roles = DATABASES.slice(1).map((name) => ({ role: 'read', db: name }));
    const env = { MONGODB_URI: uriOf('half-blind', await newUser('half-blind', roles)) };
    const { code, text } = await run(['backup', '--to', path()], env);
    expect(code).toBe(1);
    expect(text).toContain(`shows no ${DATABASES[0]}, so the backup would not be complete`);
  });

  it.each([
    ['capped collection', { capped: true, size: 4096 }],
    ['timeseries', { timeseries: { timeField: 'at' } }],
    ['view', { viewOn: 'consumer_offsets', pipeline: [] }],
  ])('is refused for what it cannot copy exactly: a %s', async (kind, options) => {
    await db('alerts').createCollection('special', options);
    const { code, text } = await run(['backup', '--to', path()]);
    expect(code).toBe(1);
    expect(text).toContain(`tollkeeper_alerts.special is a ${kind}, which this backup cannot copy`);
  });

  it('says how to keep the state at one point in time for longer, if reading takes longer', async () => {
    const admin = stage.client().db('admin');
    const keep = (minSnapshotHistoryWindowInSeconds: number) =>
      admin.command({ setParameter: 1, minSnapshotHistoryWindowInSeconds });
    await keep(0);
    try {
      const reading = withMongo(stage.uri, (client) =>
        client.withSession({ snapshot: true }, async (session) => {
          const collection = client.db('tollkeeper_alerts').collection('consumer_offsets');
          await collection.findOne({}, { session });
          for (;;) {
            await db('alerts').collection('writes').insertOne({});
            await collection.findOne({}, { session });
          }
        }),
      );
      await expect(reading).rejects.toThrow(/^MongoDB at mongodb:\/\/127.*minSnapshotHistoryWindowInSeconds: 3600/);
    } finally {
      await keep(300);
    }
  });
});

describe('a restore', () => {
  it('refuses a MongoDB with data, says how to drop it, and leaves it alone', async () => {
    await succeed('backup', '--to', path());
    await db('alerts').collection('later').insertOne({});
    const before = await contentsOf(stage.client());
    const { code, text } = await run(['restore', '--from', path()]);
    expect(code).toBe(1);
    expect(text).toContain(
      `already has ${(await listDatabases(stage.client())).join(', ')}, and a restore replaces nothing`,
    );
    expect(text).toContain('db.getSiblingDB("tollkeeper_alerts").dropDatabase()');
    expect(await contentsOf(stage.client())).toEqual(before);
  });

  const file = () => join(path(), 'tollkeeper_alerts.consumer_offsets.bson.gz');
  const manifest = () => join(path(), 'manifest.json');
  const replaceIn = async (name: string, from: string | RegExp, to: string) =>
    writeFile(name, (await readFile(name, 'latin1')).replace(from, to), 'latin1');
  it.each([
    ['one that did not finish', () => rm(manifest()), /has no manifest\.json: .* did not finish\. Restore another one/],
    ['a missing file', () => rm(file()), /is missing\. Copy the whole directory/],
    ['a file that is cut off', async () => truncate(file(), (await stat(file())).size - 1), /is damaged/],
    ['a changed byte', () => replaceIn(file(), /.{4}$/s, 'abcd'), /is damaged/],
    [
      'a changed manifest',
      () => replaceIn(manifest(), /"documents": 1/, '"documents": 2'),
      /manifest\.json .* is damaged/,
    ],
    ['an empty manifest', () => writeFile(manifest(), ''), /manifest\.json .* is damaged/],
    ['a directory that does not exist', () => rm(path(), { recursive: true }), /has no manifest\.json/],
  ])('recognizes %s before it writes anything', async (_what, damage, message) => {
    await succeed('backup', '--to', path());
    await stage.dropAll();
    await damage();
    const { code, text } = await run(['restore', '--from', path()]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringMatching(message) });
    expect(await listDatabases(stage.client())).toEqual([]);
  });

  const writeManifest = (backup: object) => {
    const sha256 = createHash('sha256').update(JSON.stringify(backup)).digest('hex');
    return writeFile(manifest(), JSON.stringify({ sha256, backup }));
  };

  it.each([
    ['writes to no database of something else', { database: 'other' }],
    ['reads no file outside of its directory', { file: '../elsewhere/tollkeeper_alerts.consumer_offsets.bson.gz' }],
  ])('%s, whatever the manifest says', async (_what, change) => {
    await succeed('backup', '--to', path());
    await cp(path(), path('elsewhere'), { recursive: true });
    await stage.dropAll();
    const { backup } = JSON.parse(await readFile(manifest(), 'utf8')) as {
      backup: { collections: { database: string }[] };
    };
    const collections = backup.collections.map((each) =>
      each.database === 'tollkeeper_alerts' ? { ...each, ...change } : each,
    );
    await writeManifest({ ...backup, collections });
    const { code, text } = await run(['restore', '--from', path()]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringMatching(/manifest\.json .* is damaged/) });
    expect(await stage.databases()).not.toContain('other');
  });

  it('says that a newer version is needed for a newer format', async () => {
    await mkdir(path());
    await writeManifest({ format: 2 });
    const { code, text } = await run(['restore', '--from', path()]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('Use a newer version') });
  });
});

describe('the command', () => {
  const PASSWORD = 'p4ssw0rd/of@operator';

  it.each([
    [
      'a wrong password',
      (uri: string) => uri.replace(/:[^:@]+@/, `:${encodeURIComponent(PASSWORD)}@`),
      1,
      /refuses the user/,
    ],
    ['a password that is not encoded', () => `mongodb://me:${PASSWORD}@db:27017`, 1, /%40 for @/],
    ['an address of something else', () => `https://me:${PASSWORD}@db`, 2, /MONGODB_URI: must be a mongodb/],
    [
      'a server that does not answer',
      () => `mongodb://me:secret@127.0.0.1:1/`,
      1,
      /does not answer .* Check that it runs/,
    ],
  ])('says what to do about %s, without the password', async (_what, change, code, message) => {
    const ended = await run(['backup', '--to', path(), '--uri', change(stage.uri)]);
    expect(ended).toEqual({ code, text: expect.stringMatching(message) });
    expect(ended.text).not.toMatch(/p4ssw0rd|of@operator|of%40operator|secret/);
  });

  it('takes the address from a file', async () => {
    await writeFile(path('uri'), `${stage.uri}\n`);
    const env = { MONGODB_URI: '', MONGODB_URI_FILE: path('uri') };
    expect(await run(['backup', '--to', path()], env)).toMatchObject({ code: 0 });
  });

  it.each([
    [['backup'], /--to DIRECTORY/],
    [['restore'], /--from DIRECTORY/],
    [['restore', '--from', 'x', '--to', 'y'], /restore takes no --to/],
    [['backup', '--to', 'x', '--fast'], /Unknown option '--fast'/],
    [['backup', '--to', 'x', 'mongodb://me:hidden@db'], /a word without an option before it/],
    [['copy'], /backup or restore/],
  ])('explains itself after %j', async (args, message) => {
    const { code, text } = await run(args);
    expect({ code, text }).toEqual({ code: 2, text: expect.stringMatching(message) });
    expect(text).toContain('npm run -s restore -- --from DIRECTORY');
    expect(text).not.toContain('hidden');
  });

  it('says which directory it may not write', async () => {
    await mkdir(path(), { mode: 0o700 });
    await writeFile(path('file'), '');
    const { code, text } = await run(['backup', '--to', path('file/below')]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('file/below') });
  });
});

const IN_ORDER = new Map<string, unknown>([
  ['b', 1],
  ['10', new BSON.Double(1)],
  [
    '2',
    new Map<string, unknown>([
      ['z', 1],
      [
        '1',
        new Map([
          ['b', 1],
          ['9', 2],
        ]),
      ],
    ]),
  ],
]);
const VALUES = {
  int: new BSON.Int32(1),
  double: new BSON.Double(1),
  minus: new BSON.Double(-0),
  long: Long.fromString('9007199254740993'),
  decimal: BSON.Decimal128.fromString('0.10'),
  date: new Date(1),
  binary: new BSON.Binary(randomBytes(3), 4),
  regex: new BSON.BSONRegExp('a', 'i'),
  timestamp: new Timestamp({ t: 1, i: 2 }),
  none: null,
  least: new BSON.MinKey(),
  most: new BSON.MaxKey(),
  code: new BSON.Code('1', { '2': 1 }),
  reference: { $ref: 'a', $id: 1 },
  text: 'Ünïcode 🤖 \u0000 inside',
  list: [[], {}, [{ '0': 1 }]],
};

async function newUser(name: string, roles: object[]): Promise<string> {
  const pwd = randomBytes(16).toString('hex');
  const admin = stage.client().db('admin');
  await admin.command({ createUser: name, pwd, roles });
  users.push(name);
  return pwd;
}

const users: string[] = [];
afterEach(async () => {
  for (const name of users.splice(0)) await stage.client().db('admin').command({ dropUser: name });
});

function uriOf(user: string, password: string): string {
  return stage.uri.replace(/\/\/[^@]*@/, `//${user}:${password}@`);
}
