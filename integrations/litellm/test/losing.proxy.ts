import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before Tollkeeper, and loses answers when it is told to. */
export interface LosingProxy {
  url: string;
  /** Whether requests arrive there, and their answers do not come back. */
  losesAnswers: boolean;
  /** Answers with this status in place of Tollkeeper, as an ingress does that does not know it yet. */
  status: number | null;
  /** How many requests it has answered in this way. */
  refused: number;
  /** Put in place of the key of each request, if there is one. */
  key: string | null;
  /** Bodies of the requests to paths with this end. */
  bodies(pathEnd: string): unknown[];
  stop(): Promise<void>;
}

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const received: { url: string | undefined; chunks: Buffer[] }[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url } = incoming;
    const headers = { ...incoming.headers, ...(proxy.key !== null && { authorization: `Bearer ${proxy.key}` }) };
    const chunks: Buffer[] = [];
    const isLost = proxy.losesAnswers;
    if (proxy.status !== null) {
      proxy.refused += 1;
      return void outgoing.writeHead(proxy.status).end();
    }
    received.push({ url, chunks });
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    const forwarded = request(new URL(url ?? '/', target), { method, headers }, (answer) => {
      if (isLost) return void answer.resume();
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: LosingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    losesAnswers: false,
    status: null,
    refused: 0,
    key: null,
    bodies: (pathEnd) =>
      received
        .filter(({ url }) => url?.endsWith(pathEnd))
        .map(({ chunks }) => JSON.parse(Buffer.concat(chunks).toString()) as unknown),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
