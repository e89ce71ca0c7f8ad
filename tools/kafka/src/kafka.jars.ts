import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { LockHeldError, lockFile } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const POM = resolve(import.meta.dirname, '..', 'pom.xml');
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const STILL_DOWNLOADING_MS = 5_000;
const LOCK_POLL_MS = 250;

export interface KafkaJarsOptions {
  cacheDirectory: string;
  /** Takes `PATH` and what Maven reads from here. */
  env: NodeJS.ProcessEnv;
  onProgress: (line: string) => void;
}

/**
 * The directory that holds the jars of pom.xml, and nothing else. Maven fetches them on the first call; they stay in the
 * cache until pom.xml changes. Of several processes one fetches and the others wait.
 */
export async function findKafkaJars({ cacheDirectory, env, onProgress }: KafkaJarsOptions): Promise<string> {
  const pom = await readFile(POM);
  const target = join(cacheDirectory, `kafka-${createHash('sha256').update(pom).digest('hex').slice(0, 12)}`);
  if (await isThere(target)) return target;
  await mkdir(cacheDirectory, { recursive: true });
  const unlock = await waitForLock(`${target}.lock`, onProgress);
  try {
    if (!(await isThere(target))) await fetchJars({ cacheDirectory, env, onProgress }, target);
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

async function waitForLock(file: string, onProgress: (line: string) => void): Promise<() => Promise<void>> {
  for (let told = false; ; told = true) {
    try {
      return await lockFile(file);
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      if (!told) onProgress(`Waiting for the process ${error.pid}, which is downloading Apache Kafka…`);
      await new Promise((settle) => setTimeout(settle, LOCK_POLL_MS));
    }
  }
}

async function fetchJars({ cacheDirectory, env, onProgress }: KafkaJarsOptions, target: string): Promise<void> {
  // Beside the target, so that the last step is a rename within one file system.
  const staging = await mkdtemp(join(cacheDirectory, '.kafka-'));
  const startedAt = Date.now();
  onProgress('Downloading Apache Kafka with Maven (45 MB, once)…');
  const ticker = setInterval(() => {
    onProgress(`Still downloading Apache Kafka, ${Math.round((Date.now() - startedAt) / 1000)} s so far…`);
  }, STILL_DOWNLOADING_MS);
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${staging}`];
    await run('mvn', ['--batch-mode', '--quiet', '--file', POM, ...goal], { env, timeout: DOWNLOAD_TIMEOUT_MS });
    await rename(staging, target);
    onProgress(`Apache Kafka is in ${target}.`);
  } catch (error) {
    throw new Error(problemOf(error as Error & { code?: unknown; stdout?: string }), { cause: error });
  } finally {
    clearInterval(ticker);
    await rm(staging, { recursive: true, force: true });
  }
}

function problemOf({ code, stdout, message }: Error & { code?: unknown; stdout?: string }): string {
  if (code === 'ENOENT') {
    return (
      'Apache Kafka is fetched with Maven, but `mvn` is not on the PATH. Install it (Debian and Ubuntu: ' +
      '`apt-get install maven`, macOS: `brew install maven`) and start again.'
    );
  }
  // Maven tells its problems on stdout, the first line first.
  const reason = stdout?.split('\n').find((line) => line.includes('ERROR')) ?? message;
  return `Maven could not fetch Apache Kafka: ${reason.trim()}. Check that it reaches a repository, and start again.`;
}
