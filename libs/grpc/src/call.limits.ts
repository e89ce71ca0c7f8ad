import type { ServerInterceptor } from '@grpc/grpc-js';
import { createArrivalLimit } from './arrival.limit.ts';
import { createStreamLimit } from './stream.limit.ts';

/** Options of the limits of unary RPCs and of streams of requests. */
interface CallLimitsOptions {
  unary?: Parameters<typeof createArrivalLimit>[0];
  streams?: Parameters<typeof createStreamLimit>[0];
}

/**
 * The limits of each RPC, as one interceptor: an interceptor behind another one would not see the HTTP/2 stream of the
 * call, and could not cut it off.
 */
export function createCallLimits({ unary, streams }: CallLimitsOptions = {}): ServerInterceptor {
  const limitUnary = createArrivalLimit(unary);
  const limitStream = createStreamLimit(streams);
  return (method, call) => (method.requestStream ? limitStream : limitUnary)(method, call);
}
