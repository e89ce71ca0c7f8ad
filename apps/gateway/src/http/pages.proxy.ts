import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Stream } from 'node:stream';
import type { ErrorAnswerer } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { notFound } from './admission.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';
import { passedHeaders } from './passed-headers.ts';
import { createPlaces, MAX_IN_FLIGHT } from './places.ts';
import { isLost, silent, unreachable } from './upstream.failures.ts';

export interface PagesProxyOptions {
  /** Origin of the console. */
  origin: string;
  /** How long the console may stay silent, in milliseconds: before the connection, the answer, or its next part. */
  timeoutMs: number;
  maxInFlight?: number;
  edgeHeaders: EdgeHeaders;
  /** Answers a request that the console failed to answer. */
  answerError: ErrorAnswerer;
}

export interface PagesProxy {
  /**
   * Sends a GET or HEAD to the console and the answer to the client, with the guarantees of `UpstreamService.send`.
   * Removes all headers from the request that are not passed on.
   */
  send(req: EdgeRequest, res: EdgeResponse): void;
  close(): void;
}

const CONSOLE = 'console';
const MAX_LISTENERS = 20;

/** Replaces the body of a request: without its framing headers, the body would look like a second request. */
const NO_BODY = Object.assign(new Stream(), { pipe: (sent: ClientRequest) => sent.end() });

/** The proxy to the console. Without session, token and body, one proxy serves all requests. */
export function createPagesProxy(options: PagesProxyOptions): PagesProxy {
  const { origin, timeoutMs, maxInFlight = MAX_IN_FLIGHT, edgeHeaders, answerError } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: maxInFlight });
  const places = createPlaces(CONSOLE, maxInFlight);
  const sentAgain = new WeakSet<EdgeResponse>();

  const proxy = createProxyMiddleware<EdgeRequest, EdgeResponse>({
    target: origin,
    agent,
    changeOrigin: true,
    buffer: NO_BODY,
    // The plugins write log lines of their own.
    ejectPlugins: true,
    plugins: [
      (events) => {
        events.on('proxyReq', watch);
        events.on('proxyRes', (answer, _req, res) => {
          res.writeHead(answer.statusCode ?? 502, edgeHeaders.ofPage(res.locals.requestId, answer.headers));
        });
        events.on('error', (error, req, res) => fail(error, req as EdgeRequest, res as EdgeResponse));
      },
    ],
  });

  /** Bounds the silence of the console. Time in which an answer waits for its client does not count. */
  function watch(sent: ClientRequest, _req: EdgeRequest, res: EdgeResponse): void {
    // The client disconnected before there was a request to abort.
    if (res.closed) return void sent.destroy();
    const silence = setTimeout(() => {
      if (places.isWaiting(res)) silence.refresh();
      else sent.destroy(silent(CONSOLE));
    }, timeoutMs);
    const heard = () => void silence.refresh();
    sent.once('close', () => clearTimeout(silence));
    sent.once('response', (answer: IncomingMessage) => {
      heard();
      answer.on('data', heard);
      answer.on('pause', () => places.wait(res, heard));
      answer.once('close', () => places.leave(res));
    });
  }

  function fail(error: Error, req: EdgeRequest, res: EdgeResponse): void {
    if (res.closed || res.writableEnded) return;
    if (isLost(error) && !res.headersSent && !sentAgain.has(res)) {
      sentAgain.add(res);
      pass(req, res);
    } else answerError(error instanceof AppError ? error : unreachable(CONSOLE, error), req, res);
  }

  function pass(req: EdgeRequest, res: EdgeResponse): void {
    // Called for a path that cannot be in a URL, such as `//`.
    void proxy(req, res, () => fail(notFound(), req, res));
  }

  return {
    send(req, res) {
      if (res.closed) return;
      places.take(res);
      res.once('close', () => places.leave(res));
      // The proxy adds listeners each time it sends a request.
      res.setMaxListeners(MAX_LISTENERS);
      // Not in an event of the proxy: for a request with `Expect`, the headers would have been sent by then.
      req.headers = toObject(passedHeaders(req, res));
      pass(req, res);
    },
    close: () => agent.destroy(),
  };
}

function toObject(headers: string[]): Record<string, string> {
  const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}
