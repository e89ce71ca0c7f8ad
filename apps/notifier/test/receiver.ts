import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Authority } from '@tollkeeper/testing/authority';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Parsed body. */
  json: { type: string; timestamp: string; data: Record<string, unknown> };
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export const ok: Answer = (response) => response.end('thanks');
export const hang: Answer = () => undefined;
export const drop: Answer = (_response, request) => request.socket.destroy();
export const status =
  (code: number, headers: Record<string, string> = {}, body = `status ${code}`): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);

/** An answer that blocks every request until the test opens the gate. */
export function gated(answer: Answer = ok): { answer: Answer; open: () => void } {
  const gate = Promise.withResolvers<void>();
  return { answer: (response, request) => void gate.promise.then(() => answer(response, request)), open: gate.resolve };
}

/** A real HTTPS server on loopback. It first gives the answers in `answers`, then always `otherwise`. */
export async function startReceiver({ key, cert }: Authority, otherwise: Answer = ok) {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer({ key, cert }, (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      const json = JSON.parse(body) as Received['json'];
      received.push({ path: url, headers: headers as Record<string, string>, body, json });
      (answers.shift() ?? otherwise)(response, request);
    });
    response.on('error', () => undefined);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    answers,
    port,
    url: `https://hooks.test:${port}/hook`,
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
