import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { cacheEntry } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const POM = resolve(import.meta.dirname, '..', 'pom.xml');
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

export interface KafkaJarsOptions {
  cacheDirectory: string;
  /** Source of `PATH` and Maven's variables. */
  env: NodeJS.ProcessEnv;
  onProgress: (line: string) => void;
}

/**
 * The directory with the jars of pom.xml, and nothing else. Maven downloads them on the first call; they stay in the
 * cache until pom.xml changes. If several processes call this, one downloads and the others wait.
 */
export async function findKafkaJars({ cacheDirectory, env, onProgress }: KafkaJarsOptions): Promise<string> {
  const pom = await readFile(POM);
  return cacheEntry({
    cacheDirectory,
    name: `kafka-${createHash('sha256').update(pom).digest('hex').slice(0, 12)}`,
    activity: 'downloading Apache Kafka',
    onProgress,
    async fill(directory) {
      onProgress('Downloading Apache Kafka with Maven (45 MB, once)…');
      const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${directory}`];
      await run('mvn', ['--batch-mode', '--quiet', '--file', POM, ...goal], {
        env,
        timeout: DOWNLOAD_TIMEOUT_MS,
      }).catch((error: Error & { code?: unknown; stdout?: string }) => {
        throw new Error(problemOf(error), { cause: error });
      });
      onProgress(`Apache Kafka is in ${cacheDirectory}.`);
    },
  });
}

function problemOf({ code, stdout, message }: Error & { code?: unknown; stdout?: string }): string {
  if (code === 'ENOENT') {
    return (
      'Apache Kafka is fetched with Maven, but `mvn` is not on the PATH. Install it (Debian and Ubuntu: ' +
      '`apt-get install maven`, macOS: `brew install maven`) and start again.'
    );
  }
  // Maven reports problems on stdout; the first line comes first.
  const reason = stdout?.split('\n').find((line) => line.includes('ERROR')) ?? message;
  return `Maven could not fetch Apache Kafka: ${reason.trim()}. Check that it reaches a repository, and start again.`;
}
