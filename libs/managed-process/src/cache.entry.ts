import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForLock } from './process.lock.ts';

const STILL_FILLING_MS = 10_000;

export interface CacheEntryOptions {
  cacheDirectory: string;
  /** Names the content: another version has another name. */
  name: string;
  /** What is in progress while it is filled, as in `downloading Apache Kafka`. */
  activity: string;
  /** Puts the content into an empty directory; may leave anything behind when it rejects. */
  fill(directory: string): Promise<void>;
  /** One line for a person, each time something takes long. */
  onProgress: (line: string) => void;
}

/**
 * The directory `name` in the cache. The first call has it filled; it is there whole or not at all. Of several
 * processes one fills it and the others wait. Rejects with what `fill` rejects with.
 */
export async function cacheEntry({
  cacheDirectory,
  name,
  activity,
  fill,
  onProgress,
}: CacheEntryOptions): Promise<string> {
  const target = join(cacheDirectory, name);
  if (await isThere(target)) return target;
  await mkdir(cacheDirectory, { recursive: true });
  const unlock = await waitForLock(`${target}.lock`, (pid) =>
    onProgress(`Waiting for the process ${pid}, ${activity}…`),
  );
  try {
    if (await isThere(target)) return target;
    // Beside the target, so that the last step is a rename within one file system.
    const staging = await mkdtemp(join(cacheDirectory, `.${name}-`));
    const stopTelling = tellProgress(activity, onProgress);
    try {
      await fill(staging);
      await rename(staging, target);
    } finally {
      stopTelling();
      await rm(staging, { recursive: true, force: true });
    }
    return target;
  } finally {
    await unlock();
  }
}

async function isThere(directory: string): Promise<boolean> {
  return readdir(directory).then(
    () => true,
    () => false,
  );
}

function tellProgress(activity: string, onProgress: (line: string) => void): () => void {
  const startedAt = Date.now();
  const ticker = setInterval(() => {
    onProgress(`Still ${activity}, ${Math.round((Date.now() - startedAt) / 1000)} s so far…`);
  }, STILL_FILLING_MS);
  return () => clearInterval(ticker);
}
