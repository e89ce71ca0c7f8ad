import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@tollkeeper/managed-process';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import type { Receiver } from './otlp.transports.ts';

const READY_TRIES = 300;
const READY_PAUSE_MS = 100;

/** An OpenTelemetry Collector on one core that drops the spans it receives. docs/benchmarks.md says how to build it. */
export async function startCollector(program: string): Promise<Receiver> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-collector-'));
  const [http, grpc] = [await freePort(), await freePort()];
  const config = join(directory, 'config.json');
  await writeFile(config, JSON.stringify(configOf(http, grpc)));
  const collector = spawn('taskset', ['-c', '0', program, '--config', config], {
    env: { ...process.env, GOMAXPROCS: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(collector, 'exit');
  const urls = { HTTP: `http://127.0.0.1:${http}`, gRPC: `http://127.0.0.1:${grpc}` };
  await Promise.race([
    isReady(urls.HTTP),
    ended.then(([code]) => Promise.reject(new Error(`the Collector ended with ${code}; its output says why`))),
  ]);
  return {
    urls,
    cpuMicros: () => cpuSeconds(collector.pid ?? 0) * 1e6,
    async stop() {
      collector.kill();
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function isReady(url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body: '{}' }).catch(() => undefined);
    if (answer?.ok) return;
    await setTimeout(READY_PAUSE_MS);
  }
  throw new Error(`the Collector does not answer at ${url}`);
}

function configOf(http: number, grpc: number) {
  const endpoint = (port: number) => ({ endpoint: `127.0.0.1:${port}` });
  return {
    receivers: { otlp: { protocols: { http: endpoint(http), grpc: endpoint(grpc) } } },
    exporters: { nop: {} },
    service: {
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['nop'] } },
    },
  };
}
