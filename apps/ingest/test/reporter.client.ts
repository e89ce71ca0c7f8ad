import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { afterEach } from '@jest/globals';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';

export const TRACE_EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
export const LOGS_EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const METRICS_EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/** What a client gets: the name of a status, its sentence, and when to send again, in seconds. */
export interface Answer {
  code: string;
  bytes: Buffer;
  details: string;
  retryAfterSeconds: number | undefined;
}

export interface Exporting {
  path?: string;
  metadata?: Record<string, string>;
  gzip?: boolean;
  deadlineMs?: number;
}

const cleanUps: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** Sends bytes as a message with the client of grpc-js. */
export async function exportBytes(address: string, bytes: Buffer, options: Exporting = {}): Promise<Answer> {
  const { path = TRACE_EXPORT, metadata = {}, gzip = false, deadlineMs = 60_000 } = options;
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': gzip ? 2 : 0,
  });
  cleanUps.push(() => client.close());
  const sent = new Metadata();
  for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
  const asIs = (message: Buffer) => message;
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, asIs, asIs, bytes, sent, { deadline: Date.now() + deadlineMs }, (error, answer) =>
      resolve(error === null ? { ...OK, bytes: answer ?? Buffer.alloc(0) } : failedAnswer(error)),
    );
  });
}

const OK = { code: 'OK', details: '', retryAfterSeconds: undefined };

function failedAnswer({ code, details, metadata }: ServiceError): Answer {
  const [carried] = metadata.get('grpc-status-details-bin');
  const retryAfterSeconds = Buffer.isBuffer(carried) ? readStatus(carried).retryAfterSeconds : undefined;
  return { code: status[code], details, bytes: Buffer.alloc(0), retryAfterSeconds };
}

/** The fields of a message whose values have a length, and its numbers. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array | number> {
  const reader = protobuf.Reader.create(bytes);
  const fields = new Map<number, Uint8Array | number>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    fields.set(tag >>> 3, (tag & 7) === 2 ? reader.bytes() : reader.uint32());
  }
  return fields;
}

/** A `google.rpc.Status` with at most a `google.rpc.RetryInfo`. */
export function readStatus(bytes: Uint8Array) {
  const text = (value: Uint8Array | number | undefined) => Buffer.from(value as Uint8Array).toString();
  const { 1: code, 2: message, 3: details } = Object.fromEntries(fieldsOf(bytes));
  const any = details === undefined ? undefined : fieldsOf(details as Uint8Array);
  if (any !== undefined && text(any.get(1)) !== 'type.googleapis.com/google.rpc.RetryInfo') {
    throw new Error(`${text(any.get(1))} is not a RetryInfo`);
  }
  const delay = any && fieldsOf(any.get(2) as Uint8Array).get(1);
  const seconds = delay && fieldsOf(delay as Uint8Array).get(1);
  return { code, message: text(message), retryAfterSeconds: seconds as number | undefined };
}

/** A connection to the server, for requests that a client of gRPC does not make. */
export async function openSession(address: string): Promise<ClientHttp2Session> {
  const session = connect(`http://${address}`).on('error', () => undefined);
  cleanUps.push(() => session.destroy());
  await once(session, 'connect');
  return session;
}

/** Begins a request. It ends with its stream. */
export function begin(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  return session
    .request(
      { ':method': 'POST', ':path': TRACE_EXPORT, 'content-type': 'application/grpc', te: 'trailers', ...headers },
      { endStream: false },
    )
    .on('error', () => undefined)
    .resume();
}

/** The headers or trailers with the status, or the first headers if the server does not speak gRPC. */
export async function statusOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
  const read = (headers: IncomingHttpHeaders) => {
    if (headers['grpc-status'] !== undefined || headers['content-type'] === undefined) resolve(headers);
  };
  stream.on('response', read).on('trailers', read);
  stream.once('close', () => reject(new Error('The stream closed without a status')));
  return promise;
}

/** The head of a message that announces bytes. */
export function headOf(length: number, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head[0] = Number(isCompressed);
  head.writeUInt32BE(length, 1);
  return head;
}
