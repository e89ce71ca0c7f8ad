import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { processIdentity } from './running-process.ts';

const LOCK_POLL_MS = 250;

interface Owner {
  pid: number;
  identity: string;
}

/** A running process holds the lock. */
export class LockHeldError extends Error {
  readonly pid: number;

  constructor(file: string, pid: number) {
    super(`The process ${pid} holds ${file}`);
    this.name = 'LockHeldError';
    this.pid = pid;
  }
}

/**
 * Locks `file` for this process; its directory must exist. Resolves to the release, which is idempotent. The lock of a
 * process that is gone is taken over. Throws `LockHeldError` while its holder runs.
 */
export async function lockFile(file: string): Promise<() => Promise<void>> {
  const self: Owner = { pid: process.pid, identity: (await processIdentity(process.pid)) ?? '' };
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    // Two rounds: the second follows the removal of a lock whose holder is gone.
    for (let round = 0; round < 2; round += 1) {
      // A link appears completely or not at all, so a reader never sees half a lock.
      const taken = await link(draft, file).then(
        () => true,
        () => false,
      );
      if (taken) return () => release(file, self);
      const holder = await readOwner(file);
      if (holder && (await processIdentity(holder.pid)) === holder.identity) throw new LockHeldError(file, holder.pid);
      await rm(file, { force: true });
    }
    const winner = await readOwner(file);
    throw new LockHeldError(file, winner?.pid ?? 0);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * As `lockFile`, but waits until the holder has released the lock or is gone. `onHeld` is called once with the holder.
 */
export async function waitForLock(
  file: string,
  onHeld: (pid: number) => void = () => undefined,
): Promise<() => Promise<void>> {
  for (let reported = false; ; reported = true) {
    try {
      return await lockFile(file);
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      if (!reported) onHeld(error.pid);
      await new Promise((settle) => setTimeout(settle, LOCK_POLL_MS));
    }
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
