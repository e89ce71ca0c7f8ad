import { constants, type ServerHttp2Stream } from 'node:http2';
import { type ServerInterceptor, ServerInterceptingCall, status } from '@grpc/grpc-js';
import { streamOf } from './arrival.limit.ts';
import { createFairRoom } from './fair.room.ts';

/** Streams end before, unless their peer no longer answers or never ends its side. */
const MAX_AGE_MS = 30_000;
/** Most streams of a server, including those whose key is not checked yet. */
const MAX_OPEN = 1_000;

/** How a stream ended: CANCELLED if it was cut off, or its client gave it up. `details` is what its client can read. */
export type OnStreamEnd = (path: string, code: status, details: string) => void;

/**
 * Bounds what streams of requests hold, whatever their peers do: each is cut off at its maximum age. If too many are
 * open, the oldest of the address with most is.
 */
export function createStreamLimit(
  { maxAgeMs = MAX_AGE_MS, maxOpen = MAX_OPEN } = {},
  onEnd: OnStreamEnd = () => undefined,
): ServerInterceptor {
  const open = createFairRoom<ServerHttp2Stream>(maxOpen, (stream) => stream.destroy());

  return ({ path }, call) => {
    const stream = streamOf(call);
    if (stream !== undefined) {
      const address = call.getConnectionInfo().remoteAddress ?? '';
      const timer = setTimeout(() => stream.destroy(), maxAgeMs);
      stream.once('close', () => {
        clearTimeout(timer);
        open.delete(address, stream);
        // grpc-js refuses a message that is too large without its interceptors.
        const { 'grpc-status': code = status.CANCELLED, 'grpc-message': details = '' } = {
          ...stream.sentHeaders,
          ...stream.sentTrailers,
        };
        onEnd(path, Number(code), decodeURI(String(details)));
      });
      // The client may never end a stream that was refused (RFC 9113, 8.1).
      stream.once('finish', () => {
        if (stream.sentHeaders?.['grpc-status'] !== undefined) stream.close(constants.NGHTTP2_NO_ERROR);
      });
      open.add(address, stream);
    }
    return new ServerInterceptingCall(call);
  };
}
