import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataDirectoryInUseError, lockDataDirectory } from './data-directory.lock.ts';
import { processIdentity } from './running-process.ts';

describe('the lock of a data directory', () => {
  let directory: string;
  const leaveLock = (owner: unknown) => writeFile(join(directory, 'lock.json'), JSON.stringify(owner));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-lock-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('is held by one only, and a refusal names the holder and the way out', async () => {
    const unlock = await lockDataDirectory(directory);
    const refused = await lockDataDirectory(directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DataDirectoryInUseError);
    expect(String(refused)).toContain(`process ${process.pid}`);
    expect(String(refused)).toContain('TOLLKEEPER_DATA_DIR');
    await unlock();
  });

  it('goes to one of several that ask at the same time', async () => {
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDirectory(directory)));
    expect(asked.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  });

  it('is free again after its release, and leaves no file behind', async () => {
    const unlock = await lockDataDirectory(directory);
    await unlock();
    await unlock();
    expect(await readdir(directory)).toEqual([]);
    await (
      await lockDataDirectory(directory)
    )();
  });

  it('is taken over from a process that is gone', async () => {
    await leaveLock({ pid: 2 ** 22 + 1, identity: 'gone' });
    await (
      await lockDataDirectory(directory)
    )();
  });

  it('is taken over when another process has the id of its holder now, as after a restart of a container', async () => {
    await leaveLock({ pid: process.pid, identity: 'an earlier boot' });
    await (
      await lockDataDirectory(directory)
    )();
  });

  it('is taken over when its file is cut off', async () => {
    await writeFile(join(directory, 'lock.json'), '{"pid":');
    await (
      await lockDataDirectory(directory)
    )();
  });

  it('is not released by one that lost it', async () => {
    const unlock = await lockDataDirectory(directory);
    const other = { pid: process.ppid, identity: await processIdentity(process.ppid) };
    await leaveLock(other);
    await unlock();
    expect(await readdir(directory)).toEqual(['lock.json']);
  });
});
