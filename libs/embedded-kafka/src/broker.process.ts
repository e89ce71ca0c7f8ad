import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { killWithOwner } from '@tollkeeper/managed-process';

const LOG_CONFIGURATION = resolve(import.meta.dirname, '..', 'log4j2.properties');
/** Takes seconds on an idle machine; a busy one may take much longer to start a JVM. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
const KEPT_PROBLEMS = 3;

/** The JVM that Kafka's programs run in. */
export interface Jvm {
  java: string;
  jars: string;
  /** JVM options, in addition to the common ones. */
  options: string[];
}

/**
 * The command line of one of Kafka's programs. All use the same compiler and collector, because a class archive fits no
 * other.
 */
export function commandLine({ java, jars, options }: Jvm, program: string, ...args: string[]): [string, string[]] {
  const common = ['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const log = `-Dlog4j2.configurationFile=${LOG_CONFIGURATION}`;
  return [java, [...common, ...options, log, '-cp', `${jars}/*`, program, ...args]];
}

/** A broker that accepts requests. */
export interface BrokerProcess {
  pid: number;
  /** Resolves to a sentence that describes how the process ended, for whatever reason. */
  exited: Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Shuts it down cleanly, kills it after 20 s, and resolves once it is gone. */
  stop(): Promise<void>;
}

/** Starts the JVM as a direct child. Resolves once the broker has started, rejects with the reason if it does not. */
export async function startBroker(jvm: Jvm, propertiesFile: string): Promise<BrokerProcess> {
  // Its own process group: Ctrl-C in the terminal must reach the services first and the broker last.
  const child = spawn(...commandLine(jvm, 'kafka.Kafka', propertiesFile), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const problems: string[] = [];
  const exited = new Promise<string>((settle) => {
    child.once('error', (error) => settle(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      settle([`it ended with ${signal ?? `exit code ${code}`}`, ...problems].join('; '));
    });
  });
  const started = readLog(child.stdout, child.stderr, problems);
  const failed = exited.then((reason) => Promise.reject(new Error(`Apache Kafka did not start: ${reason}`)));
  const pid = child.pid ?? 0;
  // SIGKILL also ends a suspended broker. Acknowledged records survive it.
  const stopWatching = pid === 0 ? () => undefined : killWithOwner(pid, 'SIGKILL');
  void exited.then(stopWatching);
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => timeout.reject(new Error(`Apache Kafka did not start within ${START_TIMEOUT_MS / 1000} s`)),
    START_TIMEOUT_MS,
  );
  try {
    await Promise.race([started, failed, timeout.promise]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    pid,
    exited,
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      child.kill('SIGCONT');
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(kill);
    },
  };
}

/**
 * Resolves at the log line that says that the broker has started. Keeps reading the log and keeps the newest problems.
 */
function readLog(stdout: Readable, stderr: Readable, problems: string[]): Promise<void> {
  return new Promise((settle) => {
    const keep = (line: string): void => {
      problems.push(line);
      problems.splice(0, problems.length - KEPT_PROBLEMS);
    };
    createInterface({ input: stderr }).on('line', keep);
    createInterface({ input: stdout }).on('line', (line) => {
      if (line.includes('Kafka Server started')) settle();
      else if (/^(ERROR|FATAL) /.test(line)) keep(line);
    });
  });
}
