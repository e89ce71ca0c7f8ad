import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Component, Metrics } from '@tollkeeper/runtime';
import { type Connections, createConnections } from './connections.ts';
import { incomingRequestClass } from './incoming-request.ts';
import type { CountRefusal } from './refusals.ts';
import { listen, type Listening } from './listening.ts';
import { refuseAmbiguous } from './request-head.ts';
import { isProtobuf, PROTOBUF_TYPE, statusBytes } from './protobuf-status.ts';
import { newRequestId } from './request-id.ts';

export interface HttpListenerOptions {
  name: string;
  host: string;
  /** 0 lets the operating system choose. */
  port: number;
  listener: RequestListener;
  /** Registers the gauges `http_server_connections` and `http_server_unread_bytes`. */
  metrics: Metrics;
  countRefusal: CountRefusal;
  /** Whether senders of bodies to this path send them again after 503, but lose them after 408 and 400. */
  resendsAfter503?: ((path: string) => boolean) | undefined;
  /** Most open connections. Beyond it, the connection that has waited longest without a whole request is closed. */
  maxConnections?: number;
  /** Milliseconds in which a client must send a whole request with its body, because what has arrived takes memory. */
  requestTimeoutMs?: number;
  /**
   * Milliseconds that an answer waits for a client that reads nothing. Reading is noticed only when the system accepts
   * more data: of an answer larger than its buffers, a client must read about a megabyte in that time.
   */
  unreadTimeoutMs?: number;
  /**
   * Most bytes of answers that all clients together may leave unread. Beyond it, the address with most unread bytes
   * loses the connection that has not read for longest.
   */
  unreadBudgetBytes?: number;
  /** Milliseconds that requests in flight get to finish at stop, before their connections are closed. */
  stopTimeoutMs?: number;
}

const MAX_HEADER_BYTES = 16 * 1024;

/** Idle connections are kept longer than the proxy keeps them, so that it never sends into a closed one. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Frequent enough that the answers made in between are small compared with the budget. */
const UNREAD_CHECK_INTERVAL_MS = 100;

/** Time for a client to read the answer before its connection is closed. */
const LINGER_MS = 1_000;

/** `url` is the origin of the server on this machine, valid once started. */
export type HttpListener = Component & { readonly url: string };

/**
 * An HTTP/1.1 server with limits for headers and times, suited to run behind a proxy that reuses connections.
 *
 * From `drain` on, every answer closes its connection, so that proxies open the next one elsewhere. `stop` also refuses
 * new connections, lets requests in flight finish, and resolves when no connection is left.
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
  let listening: Listening | undefined;
  let stopping: Promise<void> | undefined;
  let unreadCheck: NodeJS.Timeout | undefined;

  const server = createServer(
    {
      IncomingMessage: incomingRequestClass(connections.isAbandoned),
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(15_000, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      // Node's own answer has neither a body nor a request id.
      requireHostHeader: false,
    },
    take,
  );
  // Unknown `Expect` headers are ignored too.
  server.on('checkExpectation', take);
  server.on('connection', connections.open);
  server.setTimeout(unreadTimeoutMs);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') countRefusal('request_timeout');
    // After the head of an answer, the client would read this as part of that answer.
    if (connections.isAnswering(socket)) socket.destroy();
    else answerUnreadable(error, socket, resentOf(connections.arrivingOn(socket), options));
  });
  observeConnections(metrics, connections);

  function take(req: IncomingMessage, res: ServerResponse): void {
    connections.take(req, res, () => answer(req, res));
  }

  function answer(req: IncomingMessage, res: ServerResponse): void {
    if (refuseAmbiguous(req, res)) return;
    if (draining) closeAfter(res);
    // The connection is also silent while the answer is being made, but then nothing waits for the client.
    res.on('timeout', () => {
      if (res.writableLength > 0) res.destroy();
    });
    listener(req, res);
  }

  function drain(): void {
    draining = true;
    // Answers to earlier requests: the client must not send its next request into a closing connection.
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
      // A burst of connections queues in the system. Those that do not fit are retried only a second later.
      // An HTTP server ends a connection after its answer.
      listening = await listen(server, { port, host, backlog: maxConnections, allowHalfOpen: true }).catch(
        (cause: Error) => {
          throw new Error(`${name} cannot listen on ${host}:${port}: ${cause.message}`, { cause });
        },
      );
      unreadCheck = setInterval(connections.limitUnread, UNREAD_CHECK_INTERVAL_MS).unref();
    },
    drain,
    stop() {
      drain();
      stopping ??= close(server, listening, stopTimeoutMs).finally(() => clearInterval(unreadCheck));
      return stopping;
    },
  };
}

function observeConnections(metrics: Metrics, connections: Connections): void {
  metrics.gauge({
    name: 'http_server_connections',
    help: 'Open client connections',
    collect() {
      this.set(connections.count);
    },
  });
  metrics.gauge({
    name: 'http_server_unread_bytes',
    help: 'Bytes of responses that clients have not read yet',
    collect() {
      this.set(connections.unreadBytes);
    },
  });
}

async function close(server: Server, listening: Listening | undefined, stopTimeoutMs: number): Promise<void> {
  if (listening === undefined) return;
  // A connection turns idle only after its answer, so this repeats.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
  try {
    await listening.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

function closeAfter(res: ServerResponse): void {
  res.setHeader('connection', 'close');
}

interface Refusal {
  status: string;
  error: string;
  code: string;
  retryAfterSeconds?: number;
}

/** The body came too slowly, or its sender ended the connection in its middle. */
const CUT_OFF = new Set(['ERR_HTTP_REQUEST_TIMEOUT', 'HPE_INVALID_EOF_STATE']);
const LATE: Refusal = {
  status: '503 Service Unavailable',
  error: 'The request body did not arrive in time. Send it again.',
  code: 'service_unavailable',
  retryAfterSeconds: 1,
};

/** The request if its sender sends it again after 503. */
function resentOf(
  request: IncomingMessage | undefined,
  { resendsAfter503 }: HttpListenerOptions,
): IncomingMessage | undefined {
  const [path = ''] = request?.url?.split('?', 1) ?? [];
  return resendsAfter503?.(path) ? request : undefined;
}

const UNREADABLE: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: `The request headers are larger than ${MAX_HEADER_BYTES} bytes. Send smaller headers.`,
    code: 'invalid_request',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: 'The request took too long to arrive. Send it again.',
    code: 'invalid_request',
  },
};

/**
 * Answers invalid or oversized HTTP with the common error body. No handler sees such requests, unless their bodies are
 * cut off. `resent` is the arriving request if its sender sends it again after 503.
 */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, resent: IncomingMessage | undefined): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (resent !== undefined && CUT_OFF.has(error.code ?? ''))
    return answerRaw(socket, LATE, resent.headers['content-type']);
  const refusal = UNREADABLE[error.code ?? ''] ?? {
    status: '400 Bad Request',
    error: 'The request is not valid HTTP.',
    code: 'invalid_request',
  };
  answerRaw(socket, refusal);
}

/** Writes an answer past the server's own, and closes the connection. `contentType` is that of the request. */
function answerRaw(socket: Socket, { status, error, code, retryAfterSeconds }: Refusal, contentType?: string): void {
  const requestId = newRequestId();
  const [type, body] = isProtobuf(contentType)
    ? [PROTOBUF_TYPE, statusBytes(error)]
    : ['application/json; charset=utf-8', Buffer.from(JSON.stringify({ error, code, request_id: requestId }))];
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  // This ends only our half. A client that keeps its own half open would hold the connection and its data indefinitely.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}
