import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LockHeldError, lockFile } from '@tollkeeper/managed-process';

/** Another Tollkeeper uses the data directory. */
export class DataDirectoryInUseError extends Error {
  readonly pid: number;

  constructor(dataDirectory: string, pid: number) {
    super(
      `The data directory ${dataDirectory} is in use by the process ${pid}. ` +
        'Stop that process first (Ctrl-C or kill), or set TOLLKEEPER_DATA_DIR to another directory.',
    );
    this.name = 'DataDirectoryInUseError';
    this.pid = pid;
  }
}

/**
 * Locks `dataDirectory` for this process, creating it if missing. Resolves to the release, which is idempotent. The
 * lock of a process that is gone is taken over. Throws `DataDirectoryInUseError` while its holder runs.
 */
export async function lockDataDirectory(dataDirectory: string): Promise<() => Promise<void>> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    return await lockFile(join(dataDirectory, 'lock.json'));
  } catch (error) {
    throw error instanceof LockHeldError ? new DataDirectoryInUseError(dataDirectory, error.pid) : error;
  }
}
