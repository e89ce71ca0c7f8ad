import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createFairRoom, createServerTelemetry } from '@tollkeeper/grpc';
import { type ArrivedBody, type BodyBudget, type CountRefusal, type RequestFacts, requestIdOf } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { type Logger, type ServiceDeps, withSpan } from '@tollkeeper/runtime';
import type { ReporterErrors } from '../intake/reporter.errors.ts';
import { type ConnectionLimits, createHttp2Listener, type Http2Listener } from './http2.listener.ts';
import { readMessage } from './message.reader.ts';
import { failureOf } from './reporter.status.ts';
import { answerFailure, answerMessage, answerNotGrpc } from './unary.answer.ts';

/** A request whose key is valid and whose bytes have arrived. */
export interface ReporterCall<Caller> extends RequestFacts {
  caller: Caller;
  /** Milliseconds that the check of the key took. */
  accessMs: number;
  bytes: Buffer;
}

export interface ReporterRpc<Caller> {
  /** Largest message, before and after decompression. */
  limitBytes: number;
  /** What a sender whose message is too large can do, as a sentence. */
  tooLargeHint: string;
  /** Answers the message of a request with another one. Rejects with `AppError`s. */
  answer: (call: ReporterCall<Caller>) => Promise<Buffer>;
}

export interface ReporterServerOptions<Caller> extends ServiceDeps<{ HOST: string; OTLP_PORT: number }> {
  /** By path, such as `/opentelemetry.proto.collector.trace.v1.TraceService/Export`. */
  rpcs: ReadonlyMap<string, ReporterRpc<Caller>>;
  authenticate: (request: RequestFacts) => Promise<Caller>;
  /** The sender whose requests share the limits of one. */
  senderOf: (caller: Caller) => string;
  /** Charges the caller for the bytes of a message, after decompression. */
  chargeBytes: (caller: Caller, bytes: number) => void;
  errors: ReporterErrors;
  /** How many times larger a message over 64 KiB may become by decompression. */
  maxRatio: number;
  bodies: BodyBudget;
  countRefusal: CountRefusal;
  limits?: Partial<ReporterLimits>;
}

interface ReporterLimits extends ConnectionLimits {
  /** Milliseconds in which a request must arrive, from its headers to its last byte. */
  arrivalMs: number;
  /** Most requests that arrive at a time: beyond it, the oldest of the address with most is refused. */
  maxArriving: number;
  /** Most requests of a sender, from the check of its key until its client has the answer. */
  maxOfSender: number;
}

/**
 * Before its key is checked, a request may have 64 KiB here, the window of a stream that nobody reads: so this bounds
 * what strangers fill.
 */
const LIMITS: ReporterLimits = {
  arrivalMs: 30_000,
  maxArriving: 512,
  maxOfSender: 256,
  maxConnections: 2_048,
  idleMs: 120_000,
  maxAgeMs: 300_000,
  graceMs: 15_000,
};

/**
 * A gRPC server for reports of telemetry, with unary RPCs whose messages are bytes. The key of a request is checked
 * before any of its bytes are read. The bytes then count in the memory for bodies as they arrive, also those of
 * decompression, so no number of streams takes more than that. grpc-js would keep a whole message of each stream, and
 * answer INTERNAL if it cannot decompress one.
 *
 * Failures carry a `google.rpc.Status` with the time to wait in `grpc-status-details-bin`.
 */
export function createReporterServer<Caller>(options: ReporterServerOptions<Caller>): Http2Listener {
  const { config, rpcs, logger, errors, countRefusal } = options;
  const limits = { ...LIMITS, ...options.limits };
  const telemetry = createServerTelemetry(options);
  const take = createTaking(options, limits);

  function onRequest(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    if (!isGrpc(headers)) return answerNotGrpc(stream);
    const { ':path': path = '' } = headers;
    const requestId = requestIdOf(headers['x-request-id']);
    const clientAddress = stream.session?.socket.remoteAddress ?? '';
    const rpc = rpcs.get(path);
    // Paths of strangers are no labels of a metric.
    const { span, end } = telemetry.begin(rpc === undefined ? '/unknown' : path, carrierOf(headers));
    const fail = (thrown: unknown): void => {
      if (stream.destroyed || stream.closed) return end(CANCELLED);
      const error = errors.toAnswer(thrown);
      logFailure(logger, error, { requestId, path });
      const failure = failureOf(error, requestId);
      end(failure.code);
      answerFailure(stream, failure, requestId);
    };
    const answer = async (): Promise<void> => {
      if (rpc === undefined) throw new AppError('not_found', `${[...rpcs.keys()].join(' and ')} are served here.`);
      const message = await take(stream, { headers, requestId, clientAddress }, rpc);
      end(OK);
      answerMessage(stream, message);
    };
    const respond = (): void => void answer().catch(fail);
    if (span === undefined) respond();
    else withSpan(span, respond);
  }

  return createHttp2Listener({
    ...{ name: 'grpc (otlp)', host: config.HOST, port: config.OTLP_PORT },
    ...{ onRequest, countRefusal, limits },
  });
}

const OK = 0;
const CANCELLED = 1;

type Take<Caller> = (stream: ServerHttp2Stream, facts: RequestFacts, rpc: ReporterRpc<Caller>) => Promise<Buffer>;

/** Takes requests within their limits: checks the key, reads the bytes, and calls the RPC. */
function createTaking<Caller>(options: ReporterServerOptions<Caller>, limits: ReporterLimits): Take<Caller> {
  const { authenticate, senderOf, chargeBytes, bodies, maxRatio, countRefusal } = options;
  const admit = createAdmission(limits, countRefusal);
  const arriving = createFairRoom<AbortController>(limits.maxArriving, (arrival) => {
    countRefusal('arrival_limit');
    arrival.abort(unavailable('Too many requests are arriving. Send it again.'));
  });

  async function arrive(
    stream: ServerHttp2Stream,
    facts: RequestFacts,
    { limitBytes, tooLargeHint }: ReporterRpc<Caller>,
    signal: AbortSignal,
  ) {
    const askedAt = performance.now();
    const caller = await authenticate(facts);
    const accessMs = performance.now() - askedAt;
    signal.throwIfAborted();
    const sender = senderOf(caller);
    admit(stream, sender);
    const encoding = textOf(facts.headers['grpc-encoding']);
    const limits = { limitBytes, tooLargeHint, maxRatio };
    const body = await readMessage(stream, { ...limits, encoding, budget: bodies, sender, signal });
    return { caller, accessMs, body };
  }

  return async (stream, facts, rpc) => {
    const arrival = new AbortController();
    const timer = setTimeout(() => {
      countRefusal('request_timeout');
      arrival.abort(
        unavailable(`The request did not arrive within ${limits.arrivalMs / 1000} seconds. Send it again.`),
      );
    }, limits.arrivalMs);
    arriving.add(facts.clientAddress, arrival);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    arrival.signal.addEventListener('abort', () => reject(arrival.signal.reason));
    let body: ArrivedBody | undefined;
    try {
      const arrived = await Promise.race([arrive(stream, facts, rpc, arrival.signal), aborted]).finally(() => {
        clearTimeout(timer);
        arriving.delete(facts.clientAddress, arrival);
      });
      body = arrived.body;
      chargeBytes(arrived.caller, body.bytes.length);
      const { caller, accessMs } = arrived;
      return await rpc.answer({ ...facts, caller, accessMs, bytes: body.bytes });
    } finally {
      body?.release();
    }
  };
}

/** Bounds the requests of each sender until their streams end, so that answers that nobody reads count as well. */
function createAdmission({ maxOfSender }: ReporterLimits, countRefusal: CountRefusal) {
  const inFlight = new Map<string, number>();
  const add = (sender: string, more: number): void => {
    const sum = (inFlight.get(sender) ?? 0) + more;
    if (sum === 0) inFlight.delete(sender);
    else inFlight.set(sender, sum);
  };
  return (stream: ServerHttp2Stream, sender: string): void => {
    if (stream.destroyed) return;
    if ((inFlight.get(sender) ?? 0) >= maxOfSender) {
      countRefusal('sender_limit');
      const message = `The workspace has ${maxOfSender} requests in flight. Wait for answers before sending more.`;
      throw new AppError('rate_limited', message, { retryAfterSeconds: 1 });
    }
    add(sender, 1);
    stream.once('close', () => add(sender, -1));
  };
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const { ':method': method, 'content-type': type = '' } = headers;
  return method === 'POST' && /^application\/grpc(\+proto)?$/.test(type);
}

function carrierOf(headers: IncomingHttpHeaders) {
  return { traceparent: textOf(headers['traceparent']), tracestate: textOf(headers['tracestate']) };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function unavailable(message: string): AppError {
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}

/** Not the refusals by limits: they are as many as a sender likes, and metrics count them. */
function logFailure(logger: Logger, error: AppError, { requestId, path }: { requestId: string; path: string }): void {
  if (error.cause === undefined || error.code === 'invalid_request') return;
  logger.warn({ err: error, request_id: requestId, rpc: path }, 'a report was refused');
}
