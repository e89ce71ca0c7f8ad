import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataDirectoryInUseError, lockDataDirectory } from './data-directory.lock.ts';

describe('the lock of a data directory', () => {
  let directory: string;

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
});
