import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SERVICES } from '@tollkeeper/topology';
import { eventually } from '@tollkeeper/testing';
import { logIn } from '../src/api.client.ts';
import { spendSettled } from '../src/events.ts';
import { isRunning, newDataDirectory, removeDataDirectory } from '@tollkeeper/testing/standalone-process';
import { postEvents } from '../src/workspace.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const READY = /Tollkeeper is ready at (http:\/\/\S+)/;

describe('npm run fleet', () => {
  let dataDirectory: string;
  const runners: ChildProcessByStdio<null, Readable, Readable>[] = [];
  /** The fleet that the first test leaves running. */
  let running: Awaited<ReturnType<typeof run>> | undefined;

  /** Runs a fleet until it is ready or has ended. */
  async function run(env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [join(ROOT, 'tools', 'fleet', 'src', 'main.ts')], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      // No colors, because Nx asks its tasks for them.
      env: {
        ...{ ...process.env, NODE_OPTIONS: '', FORCE_COLOR: '0', PORT: '0', TOLLKEEPER_DATA_DIR: dataDirectory },
        ...env,
      },
    });
    runners.push(child);
    let terminal = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (terminal += chunk));
    await eventually(() => expect(READY.test(terminal) || child.exitCode !== null).toBe(true));
    return { child, terminal: () => terminal, baseUrl: READY.exec(terminal)?.[1] ?? '' };
  }

  /** Ids of processes that use the data directory, or are services of this runner. */
  async function processes(runner: number): Promise<number[]> {
    const { stdout } = await runPs();
    return stdout
      .split('\n')
      .map((line) => line.trim().split(/\s+/, 2).map(Number))
      .filter(([, parent]) => parent === runner)
      .map(([pid = 0]) => pid);
  }

  async function runPs(): Promise<{ stdout: string }> {
    const ps = spawn('ps', ['-A', '-o', 'pid=,ppid='], { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    ps.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    await once(ps, 'close');
    return { stdout };
  }

  async function expectGone(pids: number[]): Promise<void> {
    await eventually(async () => {
      for (const pid of pids) expect(await isRunning(pid)).toBe(false);
    });
  }

  beforeAll(async () => {
    dataDirectory = await newDataDirectory();
  });
  afterAll(async () => {
    for (const child of runners) {
      const pids = child.exitCode === null ? await processes(child.pid ?? 0) : [];
      child.kill('SIGKILL');
      await expectGone(pids);
    }
    await removeDataDirectory(dataDirectory);
  });

  it('shows the credentials once, brings back a service that dies, stops all with Ctrl-C, and keeps its data', async () => {
    const first = await run();
    const apiKey = /developer key +(\S+)/.exec(first.terminal())?.[1] ?? '';
    const password = /password +(\S+)/.exec(first.terminal())?.[1] ?? '';
    expect((await stat(join(dataDirectory, 'fleet', 'developer.key'))).mode & 0o777).toBe(0o600);
    const target = (baseUrl: string) => ({
      ...{ baseUrl, apiKey, workspace: 'demo', logs: () => '' },
      owner: { email: 'owner@example.com', password },
    });
    const spent = async (baseUrl: string) => {
      const owner = await logIn(target(baseUrl), target(baseUrl).owner);
      return owner.expect({ path: '/w/demo/api/v1/dashboard/spend?range=1m' });
    };
    for (const service of SERVICES) expect(first.terminal()).toMatch(new RegExp(`^${service} +│ `, 'm'));

    const keys = await pidOf(first.child.pid ?? 0, 'keys');
    process.kill(keys, 'SIGKILL');
    await eventually(() => expect(first.terminal()).toContain('keys ended with SIGKILL'));
    await eventually(async () => {
      const { status } = await postEvents(target(first.baseUrl), apiKey, spendSettled({ amountMicros: 9 }));
      expect(status).toBe(202);
    });
    await eventually(async () => expect(await spent(first.baseUrl)).toMatchObject({ metrics: { total_micros: 9 } }));

    const pids = await processes(first.child.pid ?? 0);
    expect(pids.length).toBeGreaterThanOrEqual(SERVICES.length + 2);
    first.child.kill('SIGINT');
    await eventually(() => expect(first.child.exitCode).toBe(0));
    await expectGone(pids);

    const second = (running = await run());
    expect(second.terminal()).not.toContain(apiKey);
    expect(second.terminal()).not.toContain(password);
    expect(await spent(second.baseUrl)).toMatchObject({ metrics: { total_micros: 9 } });
  });

  it('leaves no process behind when it is killed', async () => {
    const { child } = running ?? (await run());
    const pids = await processes(child.pid ?? 0);
    expect(pids.length).toBeGreaterThanOrEqual(SERVICES.length + 2);
    child.kill('SIGKILL');
    await expectGone(pids);
  });

  it('says what to do when another program has its port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { child, terminal } = await run({ PORT: String(port) });
    server.close();
    expect(child.exitCode).toBe(1);
    expect(terminal()).toContain(`Port ${port} is in use`);
    expect(terminal()).not.toMatch(/^ +at /m);
  });

  /** The service's process among the children of the runner. */
  async function pidOf(runner: number, service: string): Promise<number> {
    for (const pid of await processes(runner)) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (command.includes(join('bundles', service, 'main.js'))) return pid;
    }
    throw new Error(`${service} does not run`);
  }
});
