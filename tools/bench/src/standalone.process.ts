import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@tollkeeper/kernel';
import { freePort } from '@tollkeeper/managed-process';
import { stopProcess } from './server.process.ts';

export const OWNER = { email: 'owner@bench.example.com', password: 'bench-Passw0rd-c0rrect' };

/** A standalone on a data directory of its own, as `npm start` runs it. */
export interface StandaloneProcess {
  child: ChildProcess;
  url: string;
  /** The developer key of its workspace `demo`. */
  key: string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const ROOT = join(import.meta.dirname, '../../..');
const START_TIMEOUT_MS = 120_000;

export async function startStandalone(env: NodeJS.ProcessEnv = {}): Promise<StandaloneProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-standalone-'));
  const [port, opsPort] = [await freePort(), await freePort()];
  const keyFile = join(directory, 'key');
  const child = spawn(process.execPath, await startArguments(), {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      TOLLKEEPER_DATA_DIR: directory,
      TOLLKEEPER_DEMO_KEY_FILE: keyFile,
      TOLLKEEPER_OWNER_EMAIL: OWNER.email,
      TOLLKEEPER_OWNER_PASSWORD: OWNER.password,
      WORKSPACE_EVENTS_PER_SECOND: '10000000',
      WORKSPACE_BURST_EVENTS: '10000000',
      ...env,
    },
  });
  const stop = async () => {
    await stopProcess(child);
    await rm(directory, { recursive: true });
  };
  try {
    await waitUntilReady(`http://127.0.0.1:${opsPort}/readyz`);
    return { child, url: `http://127.0.0.1:${port}`, key: (await readFile(keyFile, 'utf8')).trim(), stop };
  } catch (error) {
    await stop();
    throw error;
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

/** Posts events with a key; throws unless they are accepted. */
export async function postEvents(url: string, key: string, events: object[]): Promise<void> {
  const response = await fetch(`${url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  });
  if (response.status !== 202) throw new Error(`posting events answered ${response.status}: ${await response.text()}`);
}

/** Settled spend of one call, just now; `index` spreads calls over runs and agents. */
export function settledNow(index: number): object {
  return eventNow('spend.settled', {
    settlement_id: newId('stl'),
    run_id: `run-${index % 100}`,
    agent_id: `agent-${index % 20}`,
    amount_micros: 1_000,
  });
}

export function eventNow(type: string, data: object): { id: string } {
  const time = new Date().toISOString();
  return Object.assign({ id: newId('evt') }, { specversion: '1.0', source: '/bench', type, time, data });
}
