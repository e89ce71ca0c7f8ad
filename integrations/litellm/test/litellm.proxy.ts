import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, killWithOwner } from '@tollkeeper/managed-process';
import { eventually } from '@tollkeeper/testing/eventually';
import { pythonWithLitellm } from './litellm.install.ts';

const PLUGIN = join(import.meta.dirname, '..');
const FILES = ['tollkeeper_litellm.py', 'tollkeeper_leases.py', 'tollkeeper_settlements.py'];
const AUTHENTICATION = join(import.meta.dirname, 'fixtures', 'agent_auth.py');

export interface LitellmProxy {
  url: string;
  pid: number;
  /** All that the proxy wrote. */
  logs(): string;
  /** Sends the signal. Resolves once the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export interface LitellmOptions {
  upstreamUrl: string;
  /** Settings of the plugin. */
  env: Record<string, string>;
  /** Settings of the proxy that replace those with the plugin. */
  settings?: object;
}

/**
 * A real LiteLLM proxy with the plugin, until it answers. The models are `chat`, `unpriced`, `embedding`, `free`,
 * `falling`, which falls back to `unpriced`, `mixed` of two deployments, and `any/…`.
 */
export async function startLitellm({ upstreamUrl, env, settings }: LitellmOptions): Promise<LitellmProxy> {
  const python = await pythonWithLitellm();
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-litellm-'));
  for (const file of FILES) await copyFile(join(PLUGIN, file), join(directory, file));
  await copyFile(AUTHENTICATION, join(directory, 'agent_auth.py'));
  // YAML takes JSON as it is.
  await writeFile(join(directory, 'config.yaml'), JSON.stringify({ ...configuration(upstreamUrl), ...settings }));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    python,
    [
      ...['-c', 'from litellm import run_server; run_server()'],
      ...['--config', join(directory, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port)],
    ],
    {
      // It finds the plugin beside its configuration, wherever it is started.
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        // The prices that the package has in it, so that nothing is fetched.
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        PYTHONUNBUFFERED: '1',
        // A debug log has all that LiteLLM knows, so a key that is told to it would show.
        LITELLM_LOG: 'DEBUG',
        ...env,
      },
    },
  );
  const unwatch = killWithOwner(child.pid ?? 0, 'SIGKILL');
  let logs = '';
  child.stdout.on('data', (chunk: Buffer) => (logs += chunk));
  child.stderr.on('data', (chunk: Buffer) => (logs += chunk));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const stop = async () => {
    await end('SIGKILL');
    unwatch();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await eventually(async () => {
      if (hasEnded()) return;
      const { ok } = await fetch(`${url}/health/liveliness`);
      if (!ok) throw new Error('not ready');
    });
    if (hasEnded()) throw new Error('it ended');
  } catch (error) {
    await stop();
    throw new Error(`The LiteLLM proxy does not start:\n${logs.slice(-4000)}`, { cause: error });
  }
  return { url, pid: child.pid ?? 0, logs: () => logs, end, stop };
}

const TRY_LABELS = `
import json, os, sys
from tollkeeper_litellm import label_fields
refusals = []
for os.environ["TOLLKEEPER_LABELS"] in json.loads(sys.argv[1]):
    try:
        label_fields()
        refusals.append(None)
    except RuntimeError as error:
        refusals.append(str(error))
print(json.dumps(refusals))
`;

/** Why the plugin refuses each of these values of TOLLKEEPER_LABELS, in their order; null where it takes one. */
export async function refusalsOfLabels(values: string[]): Promise<(string | null)[]> {
  const env = {
    ...{ PATH: process.env['PATH'], PYTHONPATH: PLUGIN, PYTHONDONTWRITEBYTECODE: '1' },
    ...{ LITELLM_LOCAL_MODEL_COST_MAP: 'True', TOLLKEEPER_URL: 'http://127.0.0.1:1', TOLLKEEPER_KEY: 'unused' },
  };
  const { stdout } = await promisify(execFile)(await pythonWithLitellm(), ['-c', TRY_LABELS, JSON.stringify(values)], {
    env,
  });
  return JSON.parse(stdout) as (string | null)[];
}

function configuration(upstreamUrl: string): object {
  const model = (name: string, upstream: string, prices = {}) => ({
    model_name: name,
    litellm_params: { model: `openai/${upstream}`, api_base: `${upstreamUrl}/v1`, api_key: 'none', ...prices },
  });
  return {
    model_list: [
      model('chat', 'gpt-4o'),
      model('unpriced', 'a-model-without-prices'),
      model('embedding', 'text-embedding-3-small'),
      model('falling', 'gpt-4o-mini'),
      model('mixed', 'gpt-4o'),
      model('mixed', 'a-model-without-prices'),
      model('any/*', '*'),
      model('free', 'a-model-of-our-own', { input_cost_per_token: 0, output_cost_per_token: 0 }),
    ],
    litellm_settings: { callbacks: 'tollkeeper_litellm.tollkeeper', telemetry: false },
    // It starts with no other authentication unless it has a master key too.
    general_settings: { custom_auth: 'agent_auth.authenticate', master_key: `sk-${randomUUID()}` },
    router_settings: { num_retries: 0, fallbacks: [{ falling: ['unpriced'] }] },
  };
}
