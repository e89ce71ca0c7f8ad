import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForLock } from './process.lock.ts';

const STILL_FILLING_MS = 10_000;

export interface CacheEntryOptions {
  cacheDirectory: string;
  /** Identifies the content: another version has another name. */
  name: string;
  /** The activity while it is filled, such as `downloading Apache Kafka`. */
  activity: string;
  /** Puts the content into an empty directory. If it rejects, it may leave anything behind. */
  fill(directory: string): Promise<void>;
  /** Gets a readable line whenever something takes long. */
  onProgress: (line: string) => void;
}

/**
 * The directory `name` in the cache. The first call fills it; it exists completely or not at all. If several processes
 * call this, one fills it and the others wait. Rejects with what `fill` rejects with.
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
    // Next to the target, so that the last step is a rename within one file system.
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
