import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { commandLine, killWithOwner, waitUntilGone } from '@tollkeeper/managed-process';

/** Name of the managed replica set. */
export const REPLICA_SET = 'tollkeeper';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
/** Log id of "Waiting for connections" (MongoDB, src/mongo/transport). */
const LISTENING_LOG_ID = 23016;

/** EXIT_NEED_UPGRADE and EXIT_NEED_DOWNGRADE of MongoDB (src/mongo/util/exit_code.h). */
const OTHER_VERSION_EXIT_CODE = 62;
const OTHER_VERSION_HINT =
  'another version of MongoDB wrote this data directory. Set MONGOD_BINARY to the mongod that was used with it';

const NO_SPACE = 'No space left on device';
const NO_SPACE_HINT = 'its disk is full. Make room, then start again. Nothing that was accepted is lost';

/** A `mongod` that listens on loopback. */
export interface MongodProcess {
  pid: number;
  port: number;
  /** Resolves to a sentence that describes how the process ended, for whatever reason. */
  exited: Promise<string>;
  /** Shuts it down cleanly, kills it after 15 s, and resolves once it is gone. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): void;
}

export interface MongodOptions {
  binary: string;
  dbPath: string;
  /** Port on loopback. */
  port: number;
  /** Owner-only file with the members' shared secret; with it, clients must log in. */
  keyFile: string;
  /** Largest cache of WiredTiger; mongod takes about 100 MB on top. */
  cacheSizeMb: number;
  /** Keeps less memory between bursts, at some cost in speed. */
  frugal?: boolean;
}

/** Freed memory that all threads of a frugal `mongod` together keep. */
const FRUGAL_THREAD_CACHE_BYTES = 8 * 1024 * 1024;

/** Starts `mongod` on loopback. Resolves once it listens, rejects with the reason if it does not. */
export async function startMongod(options: MongodOptions): Promise<MongodProcess> {
  const { binary, dbPath, port, keyFile, cacheSizeMb, frugal = false } = options;
  const args = [
    ...['--dbpath', dbPath, '--port', String(port), '--bind_ip', '127.0.0.1'],
    ...['--replSet', REPLICA_SET, '--keyFile', keyFile, '--storageEngine', 'wiredTiger'],
    ...['--wiredTigerEngineConfigString', engineConfig(cacheSizeMb, frugal), '--oplogSize', '128'],
    ...['--maxConns', '800', '--quiet'],
    // Would store up to 200 MB of metrics for MongoDB's support, which nobody reads here.
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // Limits how long the transaction of a killed client can block others.
    ...['--setParameter', 'transactionLifetimeLimitSeconds=20'],
    // By default, a member of a set keeps answering for 15 s, so that clients can switch to another one.
    ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
    // Returns freed memory to the system, because all services share this small machine.
    ...['--setParameter', 'tcmallocAggressiveMemoryDecommit=1'],
    ...(frugal ? ['--setParameter', `tcmallocMaxTotalThreadCacheBytes=${FRUGAL_THREAD_CACHE_BYTES}`] : []),
    ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
  ];
  // Its own process group: Ctrl-C in the terminal must reach the services first and the database last.
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const problems: string[] = [];
  const hints = new Set<string>();
  const exited = new Promise<string>((settle) => {
    child.once('error', (error) => settle(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      if (code === OTHER_VERSION_EXIT_CODE) hints.add(OTHER_VERSION_HINT);
      settle([`it ended with ${signal ?? `exit code ${code}`}`, ...problems, ...hints].join('; '));
    });
  });
  const listening = readLog(child, problems, hints);
  const failed = exited.then((reason) => Promise.reject(new Error(`mongod did not start: ${reason}`)));
  const pid = child.pid ?? 0;
  const stopWatching = pid === 0 ? () => undefined : killWithOwner(pid, 'SIGTERM');
  void exited.then(stopWatching);
  try {
    await Promise.race([listening, failed, rejectAfter(START_TIMEOUT_MS)]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    pid,
    port,
    exited,
    kill: () => void child.kill('SIGKILL'),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/**
 * For a server with few clients: the option for the cache size takes at least 256 MB, and room for the usual 33 000
 * sessions takes 40 MB, but a connection needs only a few sessions. A frugal one empties its cache down to a fifth when
 * possible, instead of four fifths; a large transaction can still use all of it.
 */
function engineConfig(cacheSizeMb: number, frugal: boolean): string {
  return `cache_size=${cacheSizeMb}MB,session_max=2000${frugal ? ',eviction_target=20' : ''}`;
}

/**
 * Stops a `mongod` that an owner killed with SIGKILL has left on this data directory. MongoDB stores its process id in
 * `mongod.lock`. Another process that got the same id is recognized by its command line and left alone.
 */
export async function stopOrphan(dbPath: string, onProgress: (line: string) => void): Promise<void> {
  const text = await readFile(join(dbPath, 'mongod.lock'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (!Number.isInteger(pid) || pid <= 1) return;
  const command = await commandLine(pid);
  if (!command?.includes(`--dbpath ${resolve(dbPath)} `)) return;
  onProgress(`Stopping the mongod (process ${pid}) that an earlier run left behind…`);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    tryKill(pid, signal);
    if (await waitUntilGone(pid, STOP_TIMEOUT_MS)) return;
  }
  throw new Error(`mongod with the process id ${pid} cannot be stopped. Stop it manually and start again.`);
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves at the log line that says that `mongod` listens. Keeps reading the log and keeps the newest problems. */
function readLog(
  child: ChildProcessByStdio<null, Readable, Readable>,
  problems: string[],
  hints: Set<string>,
): Promise<void> {
  return new Promise((settle) => {
    child.stderr.on('data', (text: Buffer) => problems.push(String(text).trim()));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes(`"id":${LISTENING_LOG_ID},`)) settle();
      else if (/"s":"[FE]"/.test(line)) problems.push(readProblem(line));
      if (line.includes(NO_SPACE)) hints.add(NO_SPACE_HINT);
      problems.splice(0, problems.length - 2);
    });
  });
}

function readProblem(line: string): string {
  const { msg, attr } = JSON.parse(line) as { msg: string; attr?: unknown };
  return attr === undefined ? msg : `${msg} ${JSON.stringify(attr).slice(0, 300)}`;
}

function rejectAfter(timeoutMs: number): Promise<never> {
  return new Promise((_settle, reject) => {
    const message = `mongod did not listen within ${timeoutMs / 1000} s`;
    setTimeout(() => reject(new Error(message)), timeoutMs).unref();
  });
}
