import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type Failure, statusMessage } from '../intake/otlp-answer.ts';
import { GRPC_ENCODINGS } from './message.reader.ts';

const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL } = constants;

/** How long a client may take to read its answer, in milliseconds. */
const READ_WITHIN_MS = 10_000;
const HEAD = { ':status': 200, 'content-type': 'application/grpc+proto', 'grpc-accept-encoding': GRPC_ENCODINGS };

/** Answers OK with a message. Does nothing if the client has left or has an answer. */
export function answerMessage(stream: ServerHttp2Stream, message: Buffer): void {
  if (!isWaiting(stream)) return;
  limitReading(stream);
  stream.respond(HEAD, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([head, message]));
}

/** Answers a failure, without waiting for the rest of the request. Does nothing if the client has left or has one. */
export function answerFailure(stream: ServerHttp2Stream, failure: Failure, requestId: string): void {
  if (!isWaiting(stream)) return;
  limitReading(stream);
  const trailers: OutgoingHttpHeaders = {
    'grpc-status': String(failure.code),
    // Percent signs, and all but printable ASCII, are percent-encoded.
    'grpc-message': encodeURI(failure.message.toWellFormed()),
    'grpc-status-details-bin': statusMessage(failure).toString('base64'),
    'x-request-id': requestId,
  };
  stream.respond({ ...HEAD, ...trailers }, { endStream: true });
  closeRequest(stream);
}

/** Answers a request that is not gRPC with a status of HTTP. */
export function answerNotGrpc(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 415 }, { endStream: true });
  closeRequest(stream);
}

function isWaiting(stream: ServerHttp2Stream): boolean {
  return !stream.destroyed && !stream.closed && !stream.headersSent;
}

/** The client may never end a request that was answered before it was complete (RFC 9113, 8.1). */
function closeRequest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  // A stream with bytes that nobody reads stays in memory as long as its connection.
  stream.resume();
  stream.close(NGHTTP2_NO_ERROR);
}

function limitReading(stream: ServerHttp2Stream): void {
  const timer = setTimeout(() => stream.close(NGHTTP2_CANCEL), READ_WITHIN_MS).unref();
  stream.once('close', () => clearTimeout(timer));
}
