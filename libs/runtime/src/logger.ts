import { AppError, type ErrorCode } from '@tollkeeper/kernel';
import pino from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { LogFields } from './log.fields.ts';
import { activeTraceFields } from './tracing/span.ts';

/** Fields with names from {@link LogFields} only. A variable with other fields does not type-check either. */
type Known<F> = F & { [Name in Exclude<keyof F, keyof LogFields>]: never };

interface WriteLine {
  (message: string): void;
  <F extends LogFields>(fields: Known<F>, message: string): void;
}

export interface Logger extends Readonly<Record<pino.Level, WriteLine>> {
  /** A logger whose lines all have these fields. */
  child<F extends LogFields>(fields: Known<F>): Logger;
  /** The fields of all lines, including `service`. */
  bindings(): Record<string, unknown>;
}

export interface LoggerOptions {
  /** Name of the service; on every line as `service`. */
  service: string;
  level: pino.LevelWithSilent;
  /** Readable, colored lines for a terminal instead of JSON. */
  pretty?: boolean;
  /** Adds `trace_id` and `span_id` to lines that are written while a span is active. */
  traceIds?: boolean;
  /** Where lines go. The default is standard output, in batches of at most 100 ms. */
  destination?: pino.DestinationStream;
}

const REDACTED = '[redacted]';

/** Names of fields whose values never reach a log line, at any depth and in any case. */
const SECRET_FIELDS = new Set([
  'api_key',
  'apikey',
  'authorization',
  'cookie',
  'gw_session',
  'password',
  'passwordhash',
  'password_hash',
  'proxy-authorization',
  'secret',
  'session_id',
  'session_sha256',
  'sessionsha256',
  'key_sha256',
  'x-api-key',
  'keysha256',
  'sha256',
  'set-cookie',
  'signing_secret',
  'token',
  'webhook_url',
  'x-tollkeeper-caller',
]);

/** Secrets that are recognizable anywhere: workspace keys, session cookies, one-time tokens. */
const SECRET_TEXT = /(ws_live_[A-Za-z0-9]+\.|gw_session=|tk_[a-z]+_)[A-Za-z0-9_-]+/g;

/**
 * A JSON logger that cannot print secrets: fields named in {@link SECRET_FIELDS} are replaced at any depth, and
 * workspace keys, session cookies and one-time tokens are removed from the finished line, including messages and
 * stacks.
 *
 * `err` is written as type, message, code, stack and cause, without other properties, since drivers attach queries and
 * values. An outage has no stacks, because it passes and no line of code is to blame. `req` is written as method and
 * path, without its query.
 */
export function createLogger({ service, level, pretty = false, traceIds = false, destination }: LoggerOptions): Logger {
  const stream = destination ?? (pretty ? PinoPretty({ sync: true }) : standardOutput());
  return pino(
    {
      level,
      base: { service },
      timestamp: createTimestamp(),
      serializers: { err: (err) => toLoggedError(err), req: toLoggedRequest },
      formatters: { level: (label) => ({ level: label }), log: redact },
      hooks: { streamWrite: cutSecrets },
      ...(traceIds && { mixin: activeTraceFields }),
    },
    stream,
  );
}

let shared: ReturnType<typeof pino.destination> | undefined;

/**
 * All loggers of a process share one stream, so that lines never mix. It writes in batches, at the latest after 100 ms
 * and at exit. Writes are synchronous, since a thread pool costs more than the write.
 */
function standardOutput(): pino.DestinationStream {
  if (shared === undefined) {
    const stream = pino.destination({ sync: true, minLength: 8192, periodicFlush: 100 });
    endFlushAtBrokenPipe(stream);
    process.on('exit', () => stream.flushSync());
    shared = stream;
  }
  return shared;
}

/**
 * If the reader is gone, sonic-boom's flush retries endlessly, and the process would never end. An ordinary write
 * before the flush detects that: pino then turns the stream off.
 */
function endFlushAtBrokenPipe(stream: ReturnType<typeof pino.destination>): void {
  const flushSync = stream.flushSync.bind(stream);
  const flushWhileRead = () => {
    stream.flush();
    if (stream.flushSync === flushWhileRead) flushSync();
  };
  stream.flushSync = flushWhileRead;
}

/** ISO 8601 with milliseconds. Lines of the same millisecond share the text, because formatting is expensive. */
function createTimestamp(): () => string {
  let madeAt = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== madeAt) {
      madeAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function cutSecrets(line: string): string {
  const suspicious = line.includes('ws_live_') || line.includes('gw_session=') || line.includes('tk_');
  return suspicious ? line.replace(SECRET_TEXT, `$1${REDACTED}`) : line;
}

function redact(fields: Record<string, unknown>): Record<string, unknown> {
  let safe = fields;
  for (const key in fields) {
    const value = fields[key];
    const shown = SECRET_FIELDS.has(key.toLowerCase()) ? REDACTED : redactValue(value);
    if (shown === value) continue;
    if (safe === fields) safe = { ...fields };
    safe[key] = shown;
  }
  return safe;
}

function redactValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactValue);
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null ? redact(value as Record<string, unknown>) : value;
}

/** Error codes that mean an outage, whatever their causes. */
const OUTAGES = new Set<ErrorCode>(['service_unavailable', 'upstream_timeout']);

function toLoggedError(err: unknown, withStack = true): unknown {
  if (!(err instanceof Error)) return err;
  const isBlamed = withStack && !(err instanceof AppError && OUTAGES.has(err.code));
  return {
    type: err.name,
    message: err.message,
    ...('code' in err && { code: err.code }),
    ...(isBlamed && { stack: err.stack }),
    ...(err.cause !== undefined && { cause: toLoggedError(err.cause, isBlamed) }),
    ...(err instanceof AggregateError && { errors: err.errors.map((each) => toLoggedError(each, isBlamed)) }),
  };
}

function toLoggedRequest(req: { method?: string; url?: string }): unknown {
  return { method: req.method, path: req.url?.split('?', 1)[0] };
}
