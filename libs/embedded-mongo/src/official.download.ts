import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The newest release line of MongoDB with builds for every platform of Tollkeeper, including Debian 12. */
export const OFFICIAL_VERSION = '7.0.14';

const OFFICIAL_HOST = 'https://fastdl.mongodb.org';
const REACHABLE_TIMEOUT_MS = 4_000;

export interface InstallOptions {
  /** Path of the executable to create. */
  target: string;
  env: NodeJS.ProcessEnv;
  onProgress: (line: string) => void;
}

/**
 * Installs MongoDB's own build for this platform as `target`, after a check of its checksum. `MONGOMS_DOWNLOAD_MIRROR`
 * names another host. Throws within seconds if the host cannot be reached; `target` then stays as it was.
 */
export async function installOfficial({ target, env, onProgress }: InstallOptions): Promise<void> {
  const host = env['MONGOMS_DOWNLOAD_MIRROR'] ?? OFFICIAL_HOST;
  // The downloader itself would retry for minutes. This reports a blocked host at once.
  await fetch(host, { method: 'HEAD', signal: AbortSignal.timeout(REACHABLE_TIMEOUT_MS) }).catch((error: unknown) => {
    const { cause, message } = error as Error;
    throw new Error(`${host} cannot be reached (${cause instanceof Error ? cause.message : message})`);
  });
  await mkdir(dirname(target), { recursive: true });
  // Next to the target, so that the last step is a rename within one file system.
  const staging = await mkdtemp(join(dirname(target), '.download-'));
  onProgress(`Downloading MongoDB ${OFFICIAL_VERSION} from ${host} (once)…`);
  try {
    // Loaded on demand, because it is not needed once the cache is filled.
    const { MongoBinary } = await import('mongodb-memory-server-core/lib/util/MongoBinary.js');
    const found = await MongoBinary.getPath({ version: OFFICIAL_VERSION, downloadDir: staging, checkMD5: true });
    // A copy, because the downloader may return a binary from its own cache.
    const mongod = join(staging, 'mongod');
    await copyFile(found, mongod);
    await chmod(mongod, 0o755);
    await rename(mongod, target);
    onProgress(`MongoDB ${OFFICIAL_VERSION} is in ${target}.`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
