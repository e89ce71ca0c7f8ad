import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The oldest version that Apache Kafka 4 supports. */
const OLDEST_JAVA = 17;

/** `$JAVA_HOME/bin/java`, or the `java` on the PATH. Throws, with what to install, unless it is Java 17 or later. */
export async function findJava(env: NodeJS.ProcessEnv): Promise<string> {
  const java = env['JAVA_HOME'] ? join(env['JAVA_HOME'], 'bin', 'java') : 'java';
  const { stderr } = await run(java, ['-version'], { env }).catch(({ message }: Error) => {
    throw missing(`${java} does not run: ${message.trim().split('\n')[0]}`);
  });
  const version = /version "(\d+)/.exec(stderr)?.[1];
  if (Number(version) >= OLDEST_JAVA) return java;
  throw missing(`${java} is ${version === undefined ? 'of an unknown version' : `version ${version}`}`);
}

function missing(problem: string): Error {
  return new Error(
    `Apache Kafka needs Java ${OLDEST_JAVA} or later, but ${problem}. Install a JDK (Debian and Ubuntu: ` +
      '`apt-get install openjdk-17-jdk-headless`, macOS: `brew install openjdk@17`), or set JAVA_HOME to one.',
  );
}
