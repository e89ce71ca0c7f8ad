import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '@tollkeeper/managed-process';
import { pythonWith } from '@tollkeeper/testing/python-packages';
import { filledIn, type ProxyProcess, type ProxySurroundings, startProxy } from './proxy.process.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/envoy-budgets');

export interface EnvoySurroundings extends ProxySurroundings {
  /** Changes the settings of the example. */
  change?: (settings: string) => string;
}

/** A real Envoy with the settings of `examples/envoy-budgets`. */
export async function startEnvoy({
  url,
  grpcPort,
  apiKey,
  modelPort,
  change,
}: EnvoySurroundings): Promise<ProxyProcess> {
  const python = await pythonWith({ name: 'envoy', requirements: join(EXAMPLE, 'requirements.txt') });
  const [port, { hostname, port: httpPort }] = [await freePort(), new URL(url)];
  const values: Record<string, string> = {
    ...{ TOLLKEEPER_URL: url, TOLLKEEPER_KEY: apiKey, TOLLKEEPER_HOST: hostname, TOLLKEEPER_PORT: httpPort },
    ...{ GRPC_HOST: '127.0.0.1', GRPC_PORT: String(grpcPort), 14110: String(port), 14010: String(modelPort) },
  };
  const example = await readFile(join(EXAMPLE, 'envoy.yaml'), 'utf8');
  const settings = filledIn(change?.(example) ?? example, /\b(TOLLKEEPER_\w+|GRPC_\w+|14\d{3})\b/g, values);
  // The start script of the package has the path of the folder in which it was installed.
  const program = [python, join(dirname(python), 'envoy')] as const;
  const options = ['--config-path', 'envoy.yaml', '--disable-hot-restart', '--log-level', 'error'];
  const command = [...program, ...options, '--concurrency', '2'] as const;
  return startProxy({ name: 'envoy', files: { 'envoy.yaml': settings }, command, port });
}

/** A model in the format of OpenAI's chat completions that behaves as its name says. */
export interface NamedModels {
  port: number;
  /** The reservations that calls of the agent reached it with. */
  reservations(agent: string): string[];
  /** How many calls of the agent ended before their answer. */
  left(agent: string): number;
  stop(): Promise<void>;
}

const USAGE = {
  prompt_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 1_024 },
  completion_tokens: 345,
};

export async function startNamedModels(): Promise<NamedModels> {
  const reached = new Map<string, string[]>();
  const left = new Map<string, number>();
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
      const [agent, reservation] = [String(request.headers['x-agent']), request.headers['x-tollkeeper-reservation']];
      reached.set(agent, [...(reached.get(agent) ?? []), String(reservation)]);
      response.once('close', () => {
        if (!response.writableFinished) left.set(agent, (left.get(agent) ?? 0) + 1);
      });
      answer(response, JSON.parse(body.toString() || '{"model": "none"}') as { model: string });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    reservations: (agent) => reached.get(agent) ?? [],
    left: (agent) => left.get(agent) ?? 0,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
