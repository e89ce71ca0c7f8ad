import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** What happens to a report: it does not reach Tollkeeper, or it does and its answer does not reach the sender. */
export type Disturbance = 'refused' | 'cut';

/** A request that a sender made, and its answer. */
export interface Exchange {
  path: string;
  /** What was sent, as it is after decompression. */
  sent: Buffer;
  /** Undefined if the sender got none. */
  status: number | string | undefined;
  /** The answer of Tollkeeper, also if the sender did not get it. */
  answer: string;
}

/** Stands before Tollkeeper, keeps what senders send, and disturbs reports. */
export interface ReportingProxy {
  url: string;
  readonly exchanges: readonly Exchange[];
  /** What happens to the next requests, one after the other. */
  disturb(...next: readonly Disturbance[]): void;
  stop(): Promise<void>;
}

/** How a body is sent, which is sent as a whole here. */
const OF_THE_WAY = new Set(['connection', 'content-length', 'expect', 'transfer-encoding']);

export async function startReportingProxy(target: () => string): Promise<ReportingProxy> {
  const exchanges: Exchange[] = [];
  let disturbances: readonly Disturbance[] = [];

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const [disturbance, ...later] = disturbances;
    disturbances = later;
    const path = incoming.url ?? '/';
    const sent = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    if (disturbance === 'refused') {
      exchanges.push({ path, sent, status: 503, answer: '' });
      outgoing.writeHead(503, { 'retry-after': '1' }).end();
      return;
    }
    const forwarded = httpRequest(new URL(path, target()), { method: incoming.method ?? 'GET' });
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (value !== undefined && !OF_THE_WAY.has(name)) forwarded.setHeader(name, value);
    }
    forwarded.setHeader('content-length', body.length);
    forwarded.end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    const answered = await buffer(answer);
    const status = disturbance === 'cut' ? undefined : answer.statusCode;
    exchanges.push({ path, sent, status, answer: `${JSON.stringify(answer.headers)} ${answered.toString('latin1')}` });
    if (disturbance === 'cut') incoming.socket.destroy();
    else outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(answered);
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    disturb: (...next) => (disturbances = next),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
