import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
/** The command of `npm start`, without npm between the signals of the suites and the process. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
const START_ARGUMENTS = scripts.start.split(' ').slice(1);
const READY = /Tollkeeper is ready at (http:\/\/\S+)/;
/** As long as `eventually` waits. It is reached only if a start neither succeeds nor ends. */
const START_TIMEOUT_MS = 240_000;

/** The owner of every standalone that suites and benchmarks start. */
export const OWNER = { email: 'owner@e2e.example.com', password: 'e2e-Passw0rd-c0rrect' };

/** A standalone in its own process, as `npm start` runs it. */
export interface StandaloneProcess {
  /** Address of its gateway, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  readonly owner: { email: string; password: string };
  /** Slug of the workspace that the owner owns. */
  readonly workspace: string;
  /** A `developer` key of that workspace. */
  readonly apiKey: string;
  /** Every log line so far. */
  logs(): string;
  readonly pid: number;
  /** The output that a person at the terminal sees. */
  terminal(): string;
  /** Process id of the `mongod` that it manages; 0 with `MONGODB_URI`. */
  readonly mongodPid: number;
  /** Sends the signal. Resolves to the exit code once the process is gone (null if the signal ended it). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface StandaloneOptions {
  dataDirectory: string;
  /** Added to the defaults of every standalone: any free ports, no demo. */
  env?: NodeJS.ProcessEnv;
}

/** A new, empty data directory in the system's temporary folder. */
export function newDataDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tollkeeper-e2e-'));
}

/** Runs the standalone until it is ready. If it ends before, rejects with all of its output. */
export async function startStandalone({ dataDirectory, env = {} }: StandaloneOptions): Promise<StandaloneProcess> {
  const child = launchStandalone({ dataDirectory, env });
  let terminal = '';
  let logs = '';
  child.stderr.on('data', (chunk: Buffer) => (logs += chunk));
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      terminal += chunk;
      const url = READY.exec(terminal)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The standalone ended with ${code}.\n${terminal}\n${logs}`)));
    setTimeout(() => reject(new Error(`Not ready in time.\n${terminal}\n${logs}`)), START_TIMEOUT_MS).unref();
  });
  const baseUrl = await ready.catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    baseUrl,
    owner: OWNER,
    workspace: 'demo',
    apiKey: (await readFile(join(dataDirectory, 'key'), 'utf8')).trim(),
    pid: child.pid ?? 0,
    mongodPid: env['MONGODB_URI'] ? 0 : Number(await readFile(join(dataDirectory, 'mongo', 'mongod.lock'), 'utf8')),
    logs: () => logs,
    terminal: () => terminal,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      }
      return child.exitCode;
    },
  };
}

/** The process without waiting, for suites in which it does not get ready. */
export function launchStandalone({
  dataDirectory,
  env = {},
}: StandaloneOptions): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, START_ARGUMENTS, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      PORT: '0',
      OPS_PORT: '0',
      OTLP_PORT: '0',
      TOLLKEEPER_DATA_DIR: dataDirectory,
      TOLLKEEPER_DEMO: 'false',
      TOLLKEEPER_OWNER_EMAIL: OWNER.email,
      TOLLKEEPER_OWNER_PASSWORD: OWNER.password,
      TOLLKEEPER_DEMO_KEY_FILE: join(dataDirectory, 'key'),
      ...env,
    },
  });
}

/** Whether the process runs; false for one that has ended and waits for its parent. */
export async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return /^[^Z\s]/.test(stdout);
}

export async function removeDataDirectory(dataDirectory: string): Promise<void> {
  await rm(dataDirectory, { recursive: true, force: true });
}
