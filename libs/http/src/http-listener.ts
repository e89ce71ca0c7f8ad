import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Component, Metrics } from '@tollkeeper/runtime';
import { type Connections, createConnections } from './connections.ts';
import type { CountRefusal } from './refusals.ts';
import { refuseAmbiguous } from './request-head.ts';
import { newRequestId } from './request-id.ts';

export interface HttpListenerOptions {
  name: string;
  host: string;
  /** 0 lets the operating system choose. */
  port: number;
  listener: RequestListener;
  /** Takes the gauges `http_server_connections` and `http_server_unread_bytes`. */
  metrics: Metrics;
  countRefusal: CountRefusal;
  /**
   * Connections open at a time: beyond it, the one that has waited longest without a whole request is closed for the
   * next.
   */
  maxConnections?: number;
  /**
   * Milliseconds a client has for sending a whole request, its body included: what it has sent takes memory meanwhile.
   */
  requestTimeoutMs?: number;
  /**
   * Milliseconds an answer waits for a client that reads none of it. Reading shows only once the system takes more from
   * here: of an answer that is larger than its buffers, a client has to read about a megabyte in that time.
   */
  unreadTimeoutMs?: number;
  /**
   * Bytes of answers that clients may leave unread, all together: beyond it, the address that leaves most unread loses
   * the connection that has read nothing for longest.
   */
  unreadBudgetBytes?: number;
  /** Milliseconds that requests in flight get to finish at stop, before their connections are cut. */
  stopTimeoutMs?: number;
}

const MAX_HEADER_BYTES = 16 * 1024;

/** An idle connection is kept longer than the peer in front keeps it, or that one sends into a closed one. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Often enough that what answers come to in between is little beside the budget. */
const UNREAD_CHECK_INTERVAL_MS = 100;

/** Time to read the answer for a client whose connection is given up. */
const LINGER_MS = 1_000;

/** `url` is the origin that the server is reached at on this machine, valid once started. */
export type HttpListener = Component & { readonly url: string };

/**
 * An HTTP/1.1 server with bounded headers and times, fit to stand behind a proxy that reuses connections.
 *
 * From `drain` on every answer closes its connection, so that those in front open their next one elsewhere. `stop` also
 * refuses new connections, lets requests in flight finish, and resolves when no connection is left.
 */
export function createHttpListener(options: HttpListenerOptions): HttpListener {
  const {
    name,
    host,
    port,
    listener,
    metrics,
    countRefusal,
    maxConnections = 4096,
    requestTimeoutMs = 30_000,
    unreadTimeoutMs = 60_000,
    unreadBudgetBytes = 32 * 1024 * 1024,
    stopTimeoutMs = 15_000,
  } = options;
  const connections = createConnections({ maxConnections, unreadBudgetBytes, countRefusal });
  let draining = false;
  let stopping: Promise<void> | undefined;
  let unreadCheck: NodeJS.Timeout | undefined;

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(15_000, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      // Node's own answer has neither body nor id.
      requireHostHeader: false,
    },
    take,
  );
  // An `Expect` header that Node does not know is ignored too.
  server.on('checkExpectation', take);
  server.on('connection', connections.open);
  server.setTimeout(unreadTimeoutMs);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') countRefusal('request_timeout');
    // After the head of an answer, the client would read it as a part of that answer.
    if (connections.isAnswering(socket)) socket.destroy();
    else answerUnreadable(error, socket);
  });
  observeConnections(metrics, connections);

  function take(req: IncomingMessage, res: ServerResponse): void {
    connections.take(req, res, () => answer(req, res));
  }

  function answer(req: IncomingMessage, res: ServerResponse): void {
    if (refuseAmbiguous(req, res)) return;
    if (draining) closeAfter(res);
    // The connection is as silent while the answer is being made, but then nothing waits for the client.
    res.on('timeout', () => {
      if (res.writableLength > 0) res.destroy();
    });
    listener(req, res);
  }

  function drain(): void {
    draining = true;
    // Those that have been asked before: the client must not send its next request into a closing connection.
    for (const res of connections.answers()) if (!res.headersSent) closeAfter(res);
  }

  return {
    name,
    get url() {
      const address = server.address() as AddressInfo | null;
      const hostname = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
      return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${address?.port ?? port}`;
    },
    async start() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', (cause) =>
          reject(new Error(`${name} cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
        );
        // A burst of connections waits in the system for its turn: those that it drops are tried again a second later.
        server.listen(port, host, maxConnections, resolve);
      });
      unreadCheck = setInterval(connections.limitUnread, UNREAD_CHECK_INTERVAL_MS).unref();
    },
    drain,
    stop() {
      drain();
      stopping ??= close(server, stopTimeoutMs).finally(() => clearInterval(unreadCheck));
      return stopping;
    },
  };
}

function observeConnections(metrics: Metrics, connections: Connections): void {
  metrics.gauge({
    name: 'http_server_connections',
    help: 'Open connections of clients',
    collect() {
      this.set(connections.count);
    },
  });
  metrics.gauge({
    name: 'http_server_unread_bytes',
    help: 'Bytes of answers that wait for clients to read',
    collect() {
      this.set(connections.unreadBytes);
    },
  });
}

async function close(server: Server, stopTimeoutMs: number): Promise<void> {
  if (!server.listening) return;
  // A connection turns idle only after its answer, so idle ones are looked for again and again.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
  try {
    await new Promise<void>((resolve) => server.close(() => resolve()));
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

function closeAfter(res: ServerResponse): void {
  res.setHeader('connection', 'close');
}

interface Unreadable {
  status: string;
  error: string;
  code: string;
}

const UNREADABLE: Record<string, Unreadable> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: `The request headers are larger than ${MAX_HEADER_BYTES} bytes.`,
    code: 'invalid_request',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: 'The request took too long to arrive. Send it again.',
    code: 'invalid_request',
  },
};

/** Answers what is not HTTP, or too much of it, in the common error body; no handler ever sees it. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, ...rest } = UNREADABLE[error.code ?? ''] ?? {
    status: '400 Bad Request',
    error: 'The request is not valid HTTP.',
    code: 'invalid_request',
  };
  const requestId = newRequestId();
  const body = JSON.stringify({ ...rest, request_id: requestId });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
  // That ends our half only: a client that keeps its own open would hold the connection, and what it has sent, for
  // good.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}
