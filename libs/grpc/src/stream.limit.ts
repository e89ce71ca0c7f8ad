import type { ServerHttp2Stream } from 'node:http2';
import { type ServerInterceptor, ServerInterceptingCall } from '@grpc/grpc-js';
import { streamOf } from './arrival.limit.ts';
import { createFairRoom } from './fair.room.ts';

/** Streams end before, unless their peer no longer answers or never ends its side. */
const MAX_AGE_MS = 30_000;
/** Most streams of a server, including those whose key is not checked yet. */
const MAX_OPEN = 1_000;

/**
 * Bounds what streams of requests hold, whatever their peers do: each is cut off at its maximum age. If too many are
 * open, the oldest of the address with most is.
 */
export function createStreamLimit({ maxAgeMs = MAX_AGE_MS, maxOpen = MAX_OPEN } = {}): ServerInterceptor {
  const open = createFairRoom<ServerHttp2Stream>(maxOpen, (stream) => stream.destroy());

  return (_method, call) => {
    const stream = streamOf(call);
    if (stream !== undefined) {
      const address = call.getConnectionInfo().remoteAddress ?? '';
      const timer = setTimeout(() => stream.destroy(), maxAgeMs);
      stream.once('close', () => {
        clearTimeout(timer);
        open.delete(address, stream);
      });
      open.add(address, stream);
    }
    return new ServerInterceptingCall(call);
  };
}
