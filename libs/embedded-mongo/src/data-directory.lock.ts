import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processIdentity } from './running-process.ts';

const LOCK_FILE = 'lock.json';

interface Owner {
  pid: number;
  identity: string;
}

/** Another Tollkeeper works on the data directory. */
export class DataDirectoryInUseError extends Error {
  readonly pid: number;

  constructor(dataDirectory: string, pid: number) {
    super(
      `The data directory ${dataDirectory} is in use by the process ${pid}. ` +
        'Stop that one first (Ctrl-C, or kill its id), or set TOLLKEEPER_DATA_DIR to another directory.',
    );
    this.name = 'DataDirectoryInUseError';
    this.pid = pid;
  }
}

/**
 * Makes this process the only one that works on `dataDirectory`, creating the directory when missing; resolves to
 * the release, which is idempotent. A lock left by a process that is gone is taken over. Throws
 * `DataDirectoryInUseError` while its holder runs.
 */
export async function lockDataDirectory(dataDirectory: string): Promise<() => Promise<void>> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const file = join(dataDirectory, LOCK_FILE);
  const self: Owner = { pid: process.pid, identity: (await processIdentity(process.pid)) ?? '' };
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    // Two rounds: the second follows the removal of a lock whose holder is gone.
    for (let round = 0; round < 2; round += 1) {
      // A link appears whole or not at all, so a reader never sees half a lock.
      const taken = await link(draft, file).then(
        () => true,
        () => false,
      );
      if (taken) return () => release(file, self);
      const holder = await readOwner(file);
      if (holder && (await processIdentity(holder.pid)) === holder.identity) {
        throw new DataDirectoryInUseError(dataDirectory, holder.pid);
      }
      await rm(file, { force: true });
    }
    const winner = await readOwner(file);
    throw new DataDirectoryInUseError(dataDirectory, winner?.pid ?? 0);
  } finally {
    await rm(draft, { force: true });
  }
}

async function readOwner(file: string): Promise<Owner | null> {
  try {
    const owner = JSON.parse(await readFile(file, 'utf8')) as Partial<Owner>;
    return typeof owner.pid === 'number' && typeof owner.identity === 'string'
      ? { pid: owner.pid, identity: owner.identity }
      : null;
  } catch {
    return null;
  }
}

async function release(file: string, self: Owner): Promise<void> {
  const owner = await readOwner(file);
  if (owner?.pid === self.pid && owner.identity === self.identity) await rm(file, { force: true });
}
