import { Readable } from 'node:stream';
import type { ErrorAnswerer } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { isSafeMethod } from '../domain/write-protection.ts';
import { tooLarge } from './admission.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';
import { createPlaces, MAX_IN_FLIGHT } from './places.ts';
import { isLost, silent, unreachable } from './upstream.failures.ts';

export interface UpstreamOptions {
  /** Name of the service, for messages about its failures. */
  name: string;
  origin: string;
  /**
   * Longest silence of the service, in milliseconds: until it is connected, until it answers, and within its answer.
   */
  timeoutMs: number;
  maxInFlight?: number;
  /** The headers of an answer, from the service's. */
  answerHeaders: EdgeHeaders['ofAnswer'];
  /** Answers a request whose service failed. */
  answerError: ErrorAnswerer;
}

/** A request as a service gets it. */
interface UpstreamRequest {
  method: string;
  /** With its query. */
  path: string;
  /** Names in lower case and values in turn, without the framing of the body. */
  headers: string[];
  /** All of it; `stream` for what is still to come from the client, of `bodyLimitBytes` at most; null for none. */
  body: Buffer | 'stream' | null;
  bodyLimitBytes: number;
  /** Longest time from here until the answer is through; undefined for no more than the longest silence. */
  answerWithinMs: number | undefined;
  /** Called when the service has answered, before the client gets to see it. */
  onAnswer?: (() => void) | undefined;
}

/** One service, behind connections that are kept. */
export interface UpstreamService {
  /**
   * Sends a request and passes the answer to the client. Each ends with the other: a client that disconnects breaks off
   * the request, a service that breaks off its answer the client's connection. When the service has too many already,
   * the answer whose client has read nothing for longest is broken off; without one, this throws `service_unavailable`.
   * Any failure after that is answered, as 503 or, when the service stays silent, 504. What is
   * not answered in the time that the request gives is 503 with `Retry-After: 1`.
   */
  send(request: UpstreamRequest, req: EdgeRequest, res: EdgeResponse): void;
  /** Drops the connections. */
  close(): Promise<void>;
}

const GONE = new Error('the client disconnected');

export function createUpstream(options: UpstreamOptions): UpstreamService {
  const { name, origin, timeoutMs, maxInFlight = MAX_IN_FLIGHT, answerHeaders, answerError } = options;
  const pool = new Pool(origin, {
    connections: maxInFlight,
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    allowH2: false,
  });
  const places = createPlaces(name, maxInFlight);

  function send(request: UpstreamRequest, req: EdgeRequest, res: EdgeResponse): void {
    // The client disconnected before there was a request to abort.
    if (res.closed) return;
    places.take(res);
    const { method, path, headers, answerWithinMs, onAnswer } = request;
    let sent: Dispatcher.DispatchController | undefined;
    let sentAgain = false;
    /** Of the answer, where the service says it. */
    let length = NaN;
    /** The answer, where it came in one piece. */
    let whole: Buffer | undefined;
    res.once('close', () => {
      if (!res.writableFinished) sent?.abort(GONE);
    });
    // One timer over all of it: the pool's own begin anew with each step, and the first only with a connection.
    const timer =
      answerWithinMs === undefined
        ? undefined
        : setTimeout(() => {
            if (sent !== undefined) sent.abort(tooLate(name));
            else if (!res.closed) answerError(tooLate(name), req, res);
          }, answerWithinMs);

    const dispatch = () => void pool.dispatch({ method, path, headers, body: bodyOf(request, req) }, handler);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        sent = controller;
        if (res.closed || res.writableEnded) controller.abort(GONE);
      },
      onResponseStart(_controller, status, given) {
        if (status < 200) return;
        onAnswer?.();
        length = Number(given['content-length']);
        // In one piece: a header set on its own costs several times as much.
        res.writeHead(status, answerHeaders(res.locals.requestId, given));
      },
      onResponseData(controller, chunk) {
        if (chunk.length === length) {
          whole = chunk;
          return;
        }
        if (res.write(chunk)) return;
        controller.pause();
        places.wait(res, () => controller.resume());
      },
      onResponseEnd() {
        clearTimeout(timer);
        places.leave(res);
        // As text it leaves together with the head, in one write: that is a quarter of all that a request costs here.
        if (whole === undefined) res.end();
        else res.end(whole.toString('latin1'), 'latin1');
      },
      onResponseError(_controller, error) {
        if (!res.closed && !sentAgain && !res.headersSent && isLost(error) && mayBeSentAgain(request)) {
          sentAgain = true;
          sent = undefined;
          return dispatch();
        }
        clearTimeout(timer);
        // Not before, because a request that waits for a connection holds its body even if its client is gone.
        places.leave(res);
        if (!res.closed && !res.writableEnded) answerError(toAppError(request, name, error), req, res);
      },
    };
    dispatch();
  }

  return { send, close: () => pool.destroy() };
}

function bodyOf({ body, bodyLimitBytes }: UpstreamRequest, req: EdgeRequest): Buffer | Readable | null {
  return body === 'stream' ? Readable.from(limited(req, bodyLimitBytes)) : body;
}

/** The body as it comes. One without a length can only be found to be too large on its way: then it throws. */
async function* limited(req: EdgeRequest, limitBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    // Left whole when reading ends early: the answer still goes out on its connection.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw tooLarge(limitBytes);
      yield chunk;
    }
  } finally {
    // The rest of the body would come before the next request on this connection.
    req.resume();
  }
}

const SILENT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** A request that changes nothing may be sent twice. */
function mayBeSentAgain({ method, body }: UpstreamRequest): boolean {
  return body === null && isSafeMethod(method);
}

function toAppError({ answerWithinMs }: UpstreamRequest, name: string, error: Error): AppError {
  if (error instanceof AppError) return error;
  if ('code' in error && SILENT.has(String(error.code))) {
    return answerWithinMs === undefined ? silent(name) : tooLate(name);
  }
  return unreachable(name, error);
}

function tooLate(name: string): AppError {
  const message = `The ${name} service did not answer in time. Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}
