import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export type Answer = (response: ServerResponse, request: Received) => void;

/** A server with scripted answers: one for each request, and the last one from then on. */
export interface StubServer {
  url: string;
  received: Received[];
  /** Bodies of the requests to paths with this end. */
  bodies<T>(pathEnd: string): T[];
  answers: Answer[];
  stop(): Promise<void>;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const error = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { error: `It is ${code}.`, code, request_id: 'req-1' }, headers);

export const reset: Answer = (response) => response.socket?.resetAndDestroy();
/** Accepts the request and never answers. */
export const hang: Answer = () => {};
/** Starts an answer and never continues. */
export const stall: Answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"');
/** Aborts in the middle of the answer. */
export const cut: Answer = (response) => {
  response.writeHead(201, { 'content-length': '1000' }).write('{"decision":');
  setImmediate(() => response.socket?.destroy());
};

export async function startStubServer(...answers: Answer[]): Promise<StubServer> {
  const received: Received[] = [];
  const stub = { answers };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = incoming;
      const request = { method, path: url, headers, body: bodyOf(text, headers['content-type']) };
      received.push(request);
      const [answer] = stub.answers.length > 1 ? stub.answers.splice(0, 1) : stub.answers;
      answer?.(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(stub, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    bodies: <T>(pathEnd: string) => received.filter(({ path }) => path.endsWith(pathEnd)).map(({ body }) => body as T),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

function bodyOf(text: string, type = ''): unknown {
  if (text === '') return undefined;
  return type.endsWith('json') ? (JSON.parse(text) as unknown) : text;
}
