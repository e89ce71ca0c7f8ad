import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  cacheEntry,
  defaultCacheDirectory,
  freePort,
  halt,
  processIdentity,
  waitUntilGone,
} from '@tollkeeper/managed-process';
import { type BrokerProcess, commandLine, type Jvm, startBroker } from './broker.process.ts';
import { findJava } from './java.ts';
import { findKafkaJars } from './kafka.jars.ts';
import { type KafkaSecurity, SCRAM_MECHANISMS, serverProperties } from './server.properties.ts';

const run = promisify(execFile);

/** Attempts to start on ports that another process may take first. */
const START_ATTEMPTS = 5;
const ORPHAN_TIMEOUT_MS = 15_000;
const CLASS_ARCHIVE = 'classes.jsa';

export interface KafkaOptions {
  /** Holds the log. Created when missing, found again by the next start; one broker at a time works on it. */
  dataDirectory: string;
  /** Port of loopback to listen on; a free one unless given. */
  port?: number;
  /** What clients have to do to be let in; nothing unless given. */
  security?: KafkaSecurity;
  /**
   * Takes `JAVA_HOME`, `PATH`, `XDG_CACHE_HOME` and what Maven reads from here; by default the process's environment.
   */
  env?: NodeJS.ProcessEnv;
  /** One line for a person, each time something takes long. */
  onProgress?: (line: string) => void;
}

/** A real Apache Kafka of one node on loopback, a child of this process that ends with it. */
export interface KafkaBroker {
  /** `127.0.0.1:<port>`, the same after each restart. */
  readonly brokers: string;
  /** The process id, another one after each restart. */
  readonly pid: number;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port and data, after a clean stop where it still runs; resolves once it takes requests.
   */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing, until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Shuts it down cleanly. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts an Apache Kafka (KRaft, broker and controller in one) on `dataDirectory`. What it acknowledged outlives `kill
 * -9` of it and of this process; an orphan of an earlier run is killed first. Rejects, with what to install, when Java
 * 17 or later is missing, or Maven where the jars are not in the cache yet.
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaBroker> {
  const { env = process.env, onProgress = () => undefined } = options;
  const directory = resolve(options.dataDirectory);
  const installation = { ...(await prepareKafka({ env, onProgress })), directory, security: options.security };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await killOrphan(directory);
  let { broker, port } = await startOn(installation, async () => options.port ?? freePort());

  return {
    brokers: `127.0.0.1:${port}`,
    get pid() {
      return broker.pid;
    },
    async kill() {
      broker.signal('SIGKILL');
      await broker.exited;
    },
    async restart() {
      await broker.stop();
      ({ broker, port } = await startOn(installation, async () => port));
    },
    pause: () => halt(broker.pid),
    resume: () => broker.signal('SIGCONT'),
    stop: () => broker.stop(),
  };
}

interface Installation extends Jvm {
  directory: string;
  security: KafkaSecurity | undefined;
}

/** Finds Java and the jars, which it fetches first where they are missing. Rejects as `startKafka` does. */
export async function prepareKafka({
  env,
  onProgress,
}: Required<Pick<KafkaOptions, 'env' | 'onProgress'>>): Promise<Jvm> {
  const java = await findJava(env);
  const cacheDirectory = defaultCacheDirectory(env);
  const jars = await findKafkaJars({ cacheDirectory, env, onProgress });
  const { stderr: version } = await run(java, ['-version'], { env });
  const archive = await cacheEntry({
    cacheDirectory,
    name: `kafka-classes-${createHash('sha256').update(`${jars}\n${version}`).digest('hex').slice(0, 12)}`,
    activity: 'preparing Apache Kafka',
    onProgress,
    async fill(directory) {
      onProgress('Preparing Apache Kafka for quick starts (once)…');
      await archiveClasses({ java, jars, options: [] }, directory);
    },
  });
  return { java, jars, options: [`-XX:SharedArchiveFile=${join(archive, CLASS_ARCHIVE)}`] };
}

/**
 * Leaves the classes that a broker loads as this JVM has them in memory: with these a start takes half as long. A JVM
 * that cannot use them starts without them.
 */
async function archiveClasses(jvm: Jvm, directory: string): Promise<void> {
  const data = join(directory, 'data');
  await mkdir(data);
  const options = [`-XX:ArchiveClassesAtExit=${join(directory, CLASS_ARCHIVE)}`];
  const { broker } = await startOn({ ...jvm, options, directory: data, security: undefined }, freePort);
  // Without the time limit of a stop: on a busy machine the JVM takes longer to write them.
  broker.signal('SIGTERM');
  await broker.exited;
  await rm(data, { recursive: true });
}

async function startOn(
  { directory, security, ...jvm }: Installation,
  choosePort: () => Promise<number>,
): Promise<{ broker: BrokerProcess; port: number }> {
  const propertiesFile = join(directory, 'server.properties');
  const logDirectory = join(directory, 'log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort();
    const addresses = { port, controllerPort: await freePort(), internalPort: await freePort(), logDirectory };
    await writeFile(propertiesFile, serverProperties({ ...addresses, security }), { mode: 0o600 });
    if (!existsSync(join(logDirectory, 'meta.properties'))) {
      const clusterId = randomBytes(16).toString('base64url');
      const format = ['format', `--cluster-id=${clusterId}`, '-c', propertiesFile, ...scramCredentials(security)];
      await run(...commandLine(jvm, 'kafka.tools.StorageTool', ...format));
    }
    try {
      const broker = await startBroker(jvm, propertiesFile);
      await writeFile(orphanFile(directory), JSON.stringify(await identify(broker.pid)));
      return { broker, port };
    } catch (error) {
      const taken = String(error).includes('Address already in use');
      if (!taken || attempt === START_ATTEMPTS) throw error;
    }
  }
}

function scramCredentials(security: KafkaSecurity | undefined): string[] {
  if (security === undefined) return [];
  const { username, password } = security;
  return SCRAM_MECHANISMS.flatMap((mechanism) => ['-S', `${mechanism}=[name=${username},password=${password}]`]);
}

/** Who the broker of the data directory is, for a start after an owner that could not stop it. */
function orphanFile(directory: string): string {
  return join(directory, 'broker.json');
}

async function identify(pid: number): Promise<{ pid: number; identity: string | null }> {
  return { pid, identity: await processIdentity(pid) };
}

async function killOrphan(directory: string): Promise<void> {
  const text = await readFile(orphanFile(directory), 'utf8').catch(() => '{}');
  const { pid, identity } = JSON.parse(text) as { pid?: number; identity?: string };
  if (pid === undefined || (await processIdentity(pid)) !== identity) return;
  process.kill(pid, 'SIGKILL');
  if (!(await waitUntilGone(pid, ORPHAN_TIMEOUT_MS))) {
    throw new Error(`The Apache Kafka with the process id ${pid} can't be stopped. Stop it by hand and start again.`);
  }
}
