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
  /** Name of the service for error messages. */
  name: string;
  origin: string;
  /** How long the service may stay silent, in milliseconds: before the connection, the answer, or its next part. */
  timeoutMs: number;
  maxInFlight?: number;
  /** Makes the headers of an answer from the service's headers. */
  answerHeaders: EdgeHeaders['ofAnswer'];
  /** Answers a request whose service failed. */
  answerError: ErrorAnswerer;
}

/** A request as the service receives it. */
interface UpstreamRequest {
  method: string;
  /** Includes the query. */
  path: string;
  /** Lower-case names and values in turn, without the framing headers of the body. */
  headers: string[];
  /** The whole body; `stream` to read up to `bodyLimitBytes` from the client; null for none. */
  body: Buffer | 'stream' | null;
  bodyLimitBytes: number;
  /** Longest time until the answer is complete; undefined if only silence is limited. */
  answerWithinMs: number | undefined;
  /** Longest time without a reaction to what the service has; undefined if only `timeoutMs` limits it. */
  silentForMs: number | undefined;
  /** Called when the service has answered, before the client sees the answer. */
  onAnswer?: (() => void) | undefined;
}

/** One service, behind kept-alive connections. */
export interface UpstreamService {
  /**
   * Sends a request and passes the answer to the client. Both sides end together: a client that disconnects aborts the
   * request, and a service that aborts its answer closes the client's connection. When the service has too many
   * requests, the answer whose client has not read for longest is aborted; if there is none, this throws
   * `service_unavailable`. Later failures are answered: 503, or 504 when the service stays silent. A request that
   * exceeds its `answerWithinMs` or `silentForMs` gets 503 with `Retry-After: 1`.
   */
  send(request: UpstreamRequest, req: EdgeRequest, res: EdgeResponse): void;
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
    const { method, path, headers, answerWithinMs, silentForMs, onAnswer } = request;
    let sent: Dispatcher.DispatchController | undefined;
    let sentAgain = false;
    /** Content length of the answer, if the service sends it. */
    let length = NaN;
    /** The answer, if it arrived in one piece. */
    let whole: Buffer | undefined;
    res.once('close', () => {
      if (!res.writableFinished) sent?.abort(GONE);
    });
    // One timer for the whole request: those of the pool restart at each step, and the first needs a connection.
    const timer = answerWithinMs === undefined ? undefined : setTimeout(endLate, answerWithinMs);
    const silence = watchSilence(silentForMs, endLate);
    function endLate(): void {
      if (sent !== undefined) sent.abort(tooLate(name));
      else if (!res.closed) answerError(tooLate(name), req, res);
    }

    const dispatch = (): void => {
      silence.begin();
      pool.dispatch({ method, path, headers, body: bodyOf(request, req, silence) }, handler);
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        sent = controller;
        if (res.closed || res.writableEnded) controller.abort(GONE);
      },
      onResponseStart(_controller, status, given) {
        if (status < 200) return;
        silence.end();
        onAnswer?.();
        length = Number(given['content-length']);
        // One call: setting headers one by one costs several times as much.
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
        // A string is sent with the head in one write, which saves a quarter of the total cost of a request here.
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
        silence.end();
        // Not earlier, because a request that waits for a connection holds its body even if its client has
        // disconnected.
        places.leave(res);
        if (!res.closed && !res.writableEnded) answerError(toAppError(request, name, error), req, res);
      },
    };
    dispatch();
  }

  return { send, close: () => pool.destroy() };
}

interface Silence {
  /** The service has got something. */
  begin(): void;
  /** It has taken that, and the client is to send more. */
  pause(): void;
  /** It has answered. */
  end(): void;
}

/** Calls `onSilent` when a service has not reacted to what it got for `ms`. */
function watchSilence(ms: number | undefined, onSilent: () => void): Silence {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const pause = (): void => clearTimeout(timer);
  return {
    begin() {
      pause();
      if (ms !== undefined && !isOver) timer = setTimeout(onSilent, ms);
    },
    pause,
    end() {
      isOver = true;
      pause();
    },
  };
}

function bodyOf(
  { body, bodyLimitBytes }: UpstreamRequest,
  req: EdgeRequest,
  silence: Silence,
): Buffer | Readable | null {
  return body === 'stream' ? Readable.from(limited(req, bodyLimitBytes, silence)) : body;
}

/** The body as it arrives. A body without a declared length can exceed the limit on the way; then this throws. */
async function* limited(req: EdgeRequest, limitBytes: number, silence: Silence): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    // The request stays open when reading ends early, because the answer still uses its connection.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw tooLarge(limitBytes, req.url);
      silence.begin();
      yield chunk;
      silence.pause();
    }
    silence.begin();
  } finally {
    // Otherwise the rest of the body would come before the next request on this connection.
    req.resume();
  }
}

const SILENT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Requests that change nothing may be sent again. */
function mayBeSentAgain({ method, body }: UpstreamRequest): boolean {
  return body === null && isSafeMethod(method);
}

function toAppError({ answerWithinMs, silentForMs }: UpstreamRequest, name: string, error: Error): AppError {
  if (error instanceof AppError) return error;
  if ('code' in error && SILENT.has(String(error.code))) {
    return answerWithinMs === undefined && silentForMs === undefined ? silent(name) : tooLate(name);
  }
  return unreachable(name, error);
}

/** The error for a request whose answer did not come by its deadline. */
export function tooLate(name: string): AppError {
  const message = `The ${name} service did not answer in time. Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}
