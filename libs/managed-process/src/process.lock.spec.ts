import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockHeldError, lockFile, waitForLock } from './process.lock.ts';
import { processIdentity } from './running-process.ts';

describe('a lock between processes', () => {
  let directory: string;
  let file: string;
  const leaveLock = (owner: unknown) => writeFile(file, JSON.stringify(owner));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-lock-'));
    file = join(directory, 'lock.json');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('is held by one only, and a refusal names the holder', async () => {
    const unlock = await lockFile(file);
    const refused = await lockFile(file).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LockHeldError);
    expect(refused).toMatchObject({ pid: process.pid });
    await unlock();
  });

  it('goes to one of several that ask at the same time', async () => {
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lockFile(file)));
    expect(asked.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  });

  it('goes to one that waits for it, which learns who holds it', async () => {
    const unlock = await lockFile(file);
    const holder = Promise.withResolvers<number>();
    const waiting = waitForLock(file, holder.resolve);
    expect(await holder.promise).toBe(process.pid);
    await unlock();
    await (
      await waiting
    )();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is free again after its release, and leaves no file behind', async () => {
    const unlock = await lockFile(file);
    await unlock();
    await unlock();
    expect(await readdir(directory)).toEqual([]);
    await (
      await lockFile(file)
    )();
  });

  it('is taken over from a process that is gone', async () => {
    await leaveLock({ pid: 2 ** 22 + 1, identity: 'gone' });
    await (
      await lockFile(file)
    )();
  });

  it('is taken over when another process has the id of its holder now, as after a restart of a container', async () => {
    await leaveLock({ pid: process.pid, identity: 'an earlier boot' });
    await (
      await lockFile(file)
    )();
  });

  it('is taken over when its file is cut off', async () => {
    await writeFile(file, '{"pid":');
    await (
      await lockFile(file)
    )();
  });

  it('is not released by one that lost it', async () => {
    const unlock = await lockFile(file);
    const other = { pid: process.ppid, identity: await processIdentity(process.ppid) };
    await leaveLock(other);
    await unlock();
    expect(await readdir(directory)).toEqual(['lock.json']);
  });
});
