import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gatewayEventSchema, type SpendSettledEvent } from '@tollkeeper/contracts';

/** The receiver's answer to one request; 202 if absent. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface EventReceiver {
  readonly url: string;
  readonly requests: { path: string | undefined; headers: IncomingHttpHeaders; events: SpendSettledEvent[] }[];
  /** The events of the requests that were answered 202. */
  accepted(): SpendSettledEvent[];
  /** Stops listening and closes all connections; {@link listen} starts it again on the same port. */
  drop(): Promise<void>;
  listen(): Promise<void>;
}

/** A small HTTP server in place of Tollkeeper. Every event that it gets must match the published schema. */
export async function startEventReceiver(
  answer: (request: number, events: SpendSettledEvent[]) => Answer | undefined = () => undefined,
): Promise<EventReceiver> {
  const requests: EventReceiver['requests'] = [];
  const accepted: SpendSettledEvent[] = [];
  let port = 0;

  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown[];
      const events = body.map((event) => gatewayEventSchema.parse(event) as SpendSettledEvent);
      requests.push({ path: req.url, headers: req.headers, events });
      const { status, headers, body: answered } = answer(requests.length, events) ?? { status: 202 };
      if (status === 202) accepted.push(...events);
      res.writeHead(status, headers).end(JSON.stringify(answered ?? { accepted: events.length }));
    });
  });

  async function listen(): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }

  await listen();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    requests,
    accepted: () => accepted,
    listen,
    async drop() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
