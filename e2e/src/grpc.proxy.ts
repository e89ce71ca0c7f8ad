import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Disturbance, Exchange, ReportingProxy } from './reporting.proxy.ts';

const UNAVAILABLE = '14';

/** The proxy for reports by gRPC. The status of an exchange is that of gRPC. */
export async function startGrpcProxy(target: () => string): Promise<ReportingProxy> {
  const exchanges: Exchange[] = [];
  let disturbances: readonly Disturbance[] = [];

  async function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const sent = await buffer(stream);
    const [disturbance, ...later] = disturbances;
    disturbances = later;
    const path = String(headers[':path']);
    if (disturbance === 'refused') {
      exchanges.push({ path, sent, status: UNAVAILABLE, answer: '' });
      const refusal = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAVAILABLE };
      stream.respond(refusal, { endStream: true });
      return;
    }
    const { head, body, trailers } = await forward(target(), headers, sent);
    const answer = [JSON.stringify(head), body.toString('latin1'), JSON.stringify(trailers)].join(' ');
    const status = String(trailers['grpc-status'] ?? head['grpc-status']);
    exchanges.push({ path, sent, status: disturbance === 'cut' ? undefined : status, answer });
    if (disturbance === 'cut') {
      stream.session?.destroy();
      return;
    }
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(head, { waitForTrailers: true });
    stream.end(body);
  }

  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    pass(stream, headers).catch(() => stream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    disturb: (...next) => (disturbances = next),
    async stop() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forward(target: string, headers: IncomingHttpHeaders, body: Buffer) {
  const session = connect(target);
  try {
    const request = session.request({ ...headers, ':authority': new URL(target).host });
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    request.on('response', (received) => (head = received));
    request.on('trailers', (received) => (trailers = received));
    request.end(body);
    return { body: await buffer(request), head, trailers };
  } finally {
    session.close();
  }
}
