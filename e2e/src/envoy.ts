import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '@tollkeeper/managed-process';
import { eventually } from '@tollkeeper/testing';
import { pythonWith } from '@tollkeeper/testing/python-packages';

const EXAMPLE = join(import.meta.dirname, '../../examples/envoy-budgets');

/** What Envoy needs to know of the others. */
export interface EnvoySurroundings {
  /** The address of Tollkeeper. */
  url: string;
  /** The port for gateways, on this machine. */
  grpcPort: number;
  apiKey: string;
  modelPort: number;
  /** Changes the settings of the example. */
  change?: (settings: string) => string;
}

export interface Envoy {
  /** The address for callers of the model. */
  url: string;
  stop(): Promise<void>;
}

/** A real Envoy with the settings of `examples/envoy-budgets`. */
export async function startEnvoy({ url, grpcPort, apiKey, modelPort, change }: EnvoySurroundings): Promise<Envoy> {
  const python = await pythonWith({ name: 'envoy', requirements: join(EXAMPLE, 'requirements.txt') });
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-envoy-'));
  const [port, { hostname, port: httpPort }] = [await freePort(), new URL(url)];
  const values: Record<string, string> = {
    ...{ TOLLKEEPER_URL: url, TOLLKEEPER_KEY: apiKey, TOLLKEEPER_HOST: hostname, TOLLKEEPER_PORT: httpPort },
    ...{ GRPC_HOST: '127.0.0.1', GRPC_PORT: String(grpcPort), 14110: String(port), 14010: String(modelPort) },
  };
  const example = await readFile(join(EXAMPLE, 'envoy.yaml'), 'utf8');
  const settings = (change?.(example) ?? example).replaceAll(/\b(TOLLKEEPER_\w+|GRPC_\w+|14\d{3})\b/g, (word) => {
    const value = values[word];
    if (value === undefined) throw new Error(`The suite has no value for ${word}`);
    return value;
  });
  await writeFile(join(directory, 'envoy.yaml'), settings);
  // The start script of the package has the path of the folder in which it was installed.
  const script = join(dirname(python), 'envoy');
  const options = ['--config-path', join(directory, 'envoy.yaml'), '--disable-hot-restart', '--log-level', 'error'];
  const envoy = spawn(python, [script, ...options, '--concurrency', '2'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  envoy.stderr.on('data', (chunk: Buffer) => (log += chunk));
  const ended = once(envoy, 'exit');
  const stop = async () => {
    envoy.kill();
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (envoy.exitCode === null) await fetch(address);
  });
  if (envoy.exitCode === null) return { url: address, stop };
  await stop();
  throw new Error(`Envoy ended with ${envoy.exitCode}:\n${log}`);
}

/** A model in the format of OpenAI's chat completions that behaves as its name says. */
export interface NamedModels {
  port: number;
  /** The reservations that calls of the agent reached it with. */
  reservations(agent: string): string[];
  stop(): Promise<void>;
}

const USAGE = {
  prompt_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 1_024 },
  completion_tokens: 345,
};

export async function startNamedModels(): Promise<NamedModels> {
  const reached = new Map<string, string[]>();
  let calls = 0;

  function answer(response: ServerResponse, { model, stream }: { model: string; stream?: boolean }): void {
    calls += 1;
    const base = { id: `chatcmpl-${String(calls).padStart(29, '0')}`, model: `${model}-2026-08-06` };
    if (model.endsWith('-fails')) return void response.writeHead(500).end('{"error": {"message": "out of order"}}');
    if (stream !== true) {
      const body = { ...base, choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' } }], usage: USAGE };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`);
    // Its callers leave before it goes on.
    if (model.endsWith('-slow')) return;
    response.end(`data: ${JSON.stringify({ ...base, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`);
  }

  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const [agent, reservation] = [request.headers['x-agent'], request.headers['x-tollkeeper-reservation']];
      reached.set(String(agent), [...(reached.get(String(agent)) ?? []), String(reservation)]);
      answer(response, JSON.parse(body.toString() || '{"model": "none"}') as { model: string });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    reservations: (agent) => reached.get(agent) ?? [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
