import { randomInt } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createFairRoom } from '@tollkeeper/grpc';
import { type CountRefusal, listen, type Listening } from '@tollkeeper/http';
import type { Component } from '@tollkeeper/runtime';

export interface Http2ListenerOptions {
  name: string;
  host: string;
  /** 0 lets the operating system choose. */
  port: number;
  onRequest: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
  countRefusal: CountRefusal;
  limits: ConnectionLimits;
}

export interface ConnectionLimits {
  /** Most connections. Beyond it, the oldest connection of the address with most is closed. */
  maxConnections: number;
  /** Milliseconds after which a connection without traffic is closed. */
  idleMs: number;
  /** Milliseconds after which a connection takes no more requests, so that clients find other replicas. */
  maxAgeMs: number;
  /** Milliseconds that requests in flight get to finish on a connection that takes no more. */
  graceMs: number;
}

/** `address` is `host:port` for clients, valid once started. */
export type Http2Listener = Component & { readonly address: string };

/** Most open requests of a connection, for proxies that send those of many clients over one. */
const MAX_STREAMS = 256;
const MAX_HEADER_BYTES = 16 * 1024;
/** Mebibytes of headers and answers that a connection may take. Bodies count elsewhere. */
const MAX_SESSION_MIB = 1;

/**
 * A server of HTTP/2 without TLS, which the platform provides. A connection ends when it is idle or old, also one whose
 * client has vanished. On `drain` and `stop`, clients are asked to reconnect elsewhere, and requests in flight finish.
 */
export function createHttp2Listener(options: Http2ListenerOptions): Http2Listener {
  const { name, host, port, onRequest, countRefusal } = options;
  const { maxConnections, idleMs, maxAgeMs, graceMs } = options.limits;
  const sessions = new Set<ServerHttp2Session>();
  const connections = createFairRoom<Socket>(maxConnections, (socket) => {
    countRefusal('connection_limit');
    socket.destroy();
  });
  const server = createServer({
    maxSessionMemory: MAX_SESSION_MIB,
    maxHeaderListPairs: 64,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false },
  });
  server.on('connection', (socket: Socket) => {
    const from = socket.remoteAddress ?? '';
    socket.setNoDelay(true);
    connections.add(from, socket);
    // A session closes in its own time, which the socket of a client that is gone never ends.
    const end = setTimeout(() => socket.destroy(), maxAgeMs * (1 + AGE_JITTER) + graceMs).unref();
    socket.once('close', () => {
      clearTimeout(end);
      connections.delete(from, socket);
    });
  });
  server.on('session', (session) => {
    sessions.add(session);
    const retire = () => retireSession(session, graceMs);
    session.setTimeout(idleMs, retire);
    const old = setTimeout(retire, maxAgeMs + randomInt(Math.ceil(maxAgeMs * AGE_JITTER))).unref();
    session.once('close', () => {
      clearTimeout(old);
      sessions.delete(session);
    });
  });
  // Of connections that are not HTTP/2, or break.
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    onRequest(stream, headers);
  });

  let listening: Listening | undefined;

  function drain(): void {
    for (const session of sessions) retireSession(session, graceMs);
  }

  return {
    name,
    get address() {
      const bound = server.address() as AddressInfo | null;
      return `${host.includes(':') ? `[${host}]` : host}:${bound?.port ?? port}`;
    },
    async start() {
      const { maxConnections: backlog } = options.limits;
      listening = await listen(server, { port, host, backlog, allowHalfOpen: false }).catch((cause: Error) => {
        throw new Error(`${name} cannot listen on ${host}:${port}: ${cause.message}`, { cause });
      });
    },
    drain,
    async stop() {
      if (listening === undefined) return;
      const closed = listening.close();
      listening = undefined;
      drain();
      const cut = setTimeout(() => {
        for (const socket of connections.entries()) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** Connections that began together end apart. */
const AGE_JITTER = 0.1;

/** Lets the requests in flight finish, and takes no more. */
function retireSession(session: ServerHttp2Session, graceMs: number): void {
  if (session.closed || session.destroyed) return;
  session.close();
  const cut = setTimeout(() => session.destroy(), graceMs).unref();
  session.once('close', () => clearTimeout(cut));
}
