import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@tollkeeper/kernel';
import { freePort } from './nginx.process.ts';
import { stopProcess } from './server.process.ts';

/** Resident memory in MB. */
export interface Footprint {
  moment: string;
  standalone: number;
  mongod: number;
}

const ROOT = join(import.meta.dirname, '../../..');
const START_TIMEOUT_MS = 120_000;
const BATCHES = 20;

/** Starts the standalone as `npm start` does and takes its memory when it is ready and after events were posted. */
export async function measureStandalone(): Promise<Footprint[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-standalone-'));
  const [port, opsPort] = [await freePort(), await freePort()];
  const keyFile = join(directory, 'key');
  const child = spawn(process.execPath, await startArguments(), {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      ...{
        PORT: String(port),
        OPS_PORT: String(opsPort),
        TOLLKEEPER_DATA_DIR: directory,
        TOLLKEEPER_DEMO_KEY_FILE: keyFile,
      },
    },
  });
  try {
    await waitUntilReady(`http://127.0.0.1:${opsPort}/readyz`);
    const ready = takeFootprint('ready, sample month loaded', child.pid ?? 0);
    await postEvents(`http://127.0.0.1:${port}`, (await readFile(keyFile, 'utf8')).trim());
    return [ready, takeFootprint(`after ${BATCHES * 1_000} posted events`, child.pid ?? 0)];
  } finally {
    await stopProcess(child);
    await rm(directory, { recursive: true });
  }
}

/** What `npm start` gives to node; started without npm between, the process is ours to measure and to stop. */
async function startArguments(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').slice(1);
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await delay(200);
  }
  throw new Error(`the standalone was not ready within ${START_TIMEOUT_MS / 1_000} s`);
}

async function postEvents(url: string, key: string): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const events = Array.from({ length: 1_000 }, (_, index) => ({
      ...{
        specversion: '1.0',
        id: newId('evt'),
        source: '/bench',
        type: 'spend.settled',
        time: new Date().toISOString(),
      },
      data: {
        settlement_id: newId('stl'),
        run_id: `run-${index % 100}`,
        agent_id: `agent-${index % 20}`,
        amount_micros: 1_000,
      },
    }));
    const response = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(events),
    });
    if (response.status !== 202)
      throw new Error(`posting events answered ${response.status}: ${await response.text()}`);
  }
}

function takeFootprint(moment: string, pid: number): Footprint {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const rssOf = (matches: (row: string[]) => boolean): number =>
    processes.filter(matches).reduce((total, [, , rss]) => total + (Number(rss) * 1_024) / 1e6, 0);
  return {
    moment,
    standalone: rssOf(([id]) => id === String(pid)),
    mongod: rssOf(([, parent, , command]) => parent === String(pid) && command?.includes('mongod') === true),
  };
}
