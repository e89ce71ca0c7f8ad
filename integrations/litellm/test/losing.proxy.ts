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
  stop(): Promise<void>;
}

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const isLost = proxy.losesAnswers;
    if (proxy.status !== null) return void outgoing.writeHead(proxy.status).end();
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
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
