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

/** Attempts to start, because another process may take a port first. */
const START_ATTEMPTS = 5;
const ORPHAN_TIMEOUT_MS = 15_000;
const CLASS_ARCHIVE = 'classes.jsa';

export interface KafkaOptions {
  /** Holds the log. Created if missing, and reused by the next start. Only one broker at a time may use it. */
  dataDirectory: string;
  /** Port on loopback; a free one by default. */
  port?: number;
  /** How clients must authenticate; not at all by default. */
  security?: KafkaSecurity;
  /** Source of `JAVA_HOME`, `PATH`, `XDG_CACHE_HOME` and Maven's variables; the process's environment by default. */
  env?: NodeJS.ProcessEnv;
  /** Gets a readable line whenever something takes long. */
  onProgress?: (line: string) => void;
}

/** A real single-node Apache Kafka on loopback, as a child of this process that ends with it. */
export interface KafkaBroker {
  /** `127.0.0.1:<port>`, the same after each restart. */
  readonly brokers: string;
  /** The process id, which changes at each restart. */
  readonly pid: number;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data, after a clean stop if it runs. Resolves once it accepts requests. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Shuts it down cleanly. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts an Apache Kafka (KRaft, broker and controller in one) on `dataDirectory`. Acknowledged records survive `kill
 * -9` of it and of this process; an orphan of an earlier run is killed first. Rejects, with what to install, if Java 17
 * or later is missing, or Maven while the jars are not in the cache yet.
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

/** Finds Java and the jars, which it downloads if missing. Rejects as `startKafka` does. */
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
 * Archives the classes of a broker as this JVM loads them, which halves the time of a start. A JVM that cannot use the
 * archive starts without it.
 */
async function archiveClasses(jvm: Jvm, directory: string): Promise<void> {
  const data = join(directory, 'data');
  await mkdir(data);
  const options = [`-XX:ArchiveClassesAtExit=${join(directory, CLASS_ARCHIVE)}`];
  const { broker } = await startOn({ ...jvm, options, directory: data, security: undefined }, freePort);
  // Without the timeout of a stop, because on a busy machine the JVM takes longer to write the archive.
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

/** The file with the broker of the data directory, for a start after an owner that could not stop it. */
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
    throw new Error(`Apache Kafka with the process id ${pid} cannot be stopped. Stop it manually and start again.`);
  }
}
