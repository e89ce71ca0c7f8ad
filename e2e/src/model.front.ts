import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '@tollkeeper/managed-process';

const STUB = join(import.meta.dirname, '../../examples/model-stub/server.mjs');
/** How the answers of the stub begin. */
const BEGINNING = 'Air scatters';

/** The model of the examples, whose answers and refusals have a word of the caller. */
export interface ModelFront {
  /**
   * The address for a sender whose answers are to have this word. Below it, `/answers/v1` answers, `/refuses/v1`
   * refuses with 429, and `/refuses-once/v1` refuses the first call only.
   */
  urlFor(word: string): string;
  /** How often the calls with this word reached it. */
  attempts(word: string): number;
  stop(): Promise<void>;
}

export async function startModelFront(): Promise<ModelFront> {
  const port = await freePort();
  const stub = await startStub(port);
  const attempts = new Map<string, number>();
  const refusedOnce = new Set<string>();

  function isRefused(word: string, behavior: string): boolean {
    if (behavior === 'answers') return false;
    if (behavior === 'refuses') return true;
    const isFirst = !refusedOnce.has(word);
    refusedOnce.add(word);
    return isFirst;
  }

  async function answer(request: IncomingMessage): Promise<{ status: number; type: string; text: string }> {
    const [, word = '', behavior = '', ...rest] = (request.url ?? '').split('/');
    attempts.set(word, (attempts.get(word) ?? 0) + 1);
    const body = await buffer(request);
    if (isRefused(word, behavior)) {
      const error = { message: `Too many calls like: ${word}`, type: 'rate_limit_error' };
      return { status: 429, type: 'application/json', text: JSON.stringify({ error }) };
    }
    const answered = await fetch(`http://127.0.0.1:${port}/${rest.join('/')}`, { method: 'POST', body });
    const text = (await answered.text()).replaceAll(BEGINNING, `${BEGINNING} ${word}`);
    return { status: answered.status, type: answered.headers.get('content-type') ?? '', text };
  }

  const server = createServer((request, response) => {
    void answer(request)
      .catch((error: unknown) => ({ status: 502, type: 'text/plain', text: String(error) }))
      .then(({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    urlFor: (word) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${word}`,
    attempts: (word) => attempts.get(word) ?? 0,
    async stop() {
      server.closeAllConnections();
      server.close();
      const ended = once(stub, 'exit');
      stub.kill();
      await ended;
    },
  };
}

async function startStub(port: number): Promise<ChildProcess> {
  const stub = spawn(process.execPath, [STUB], {
    env: { PATH: process.env['PATH'], MODEL_STUB_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Its first line says that it listens.
  const exited = once(stub, 'exit').then(([code]) => Promise.reject(new Error(`The model stub ended with ${code}.`)));
  await Promise.race([once(stub.stdout, 'data'), exited]);
  exited.catch(() => undefined);
  return stub;
}
