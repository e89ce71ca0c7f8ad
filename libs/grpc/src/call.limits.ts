import type { ServerInterceptor } from '@grpc/grpc-js';
import { createArrivalLimit } from './arrival.limit.ts';
import { createStreamLimit, type OnStreamEnd } from './stream.limit.ts';

/** Options of the limits of unary RPCs, of streams of requests, and of those of reflection. */
interface CallLimitsOptions {
  unary?: Parameters<typeof createArrivalLimit>[0];
  streams?: Parameters<typeof createStreamLimit>[0];
  reflection?: Parameters<typeof createStreamLimit>[0];
  /** Called when a stream has ended, but for those of reflection. */
  onStreamEnd?: OnStreamEnd;
}

const REFLECTION = /^\/grpc\.reflection\./;
/** Everybody may open them, so they have few places of their own. Tools open the next one if they need it. */
const OF_REFLECTION = { maxAgeMs: 10_000, maxOpen: 64 };

/**
 * The limits of each RPC, as one interceptor: an interceptor behind another one would not see the HTTP/2 stream of the
 * call, and could not cut it off.
 */
export function createCallLimits({
  unary,
  streams,
  reflection = OF_REFLECTION,
  onStreamEnd,
}: CallLimitsOptions = {}): ServerInterceptor {
  const limitUnary = createArrivalLimit(unary);
  const limitStream = createStreamLimit(streams, onStreamEnd);
  const limitReflection = createStreamLimit(reflection);
  return (method, call) => {
    if (!method.requestStream) return limitUnary(method, call);
    return (REFLECTION.test(method.path) ? limitReflection : limitStream)(method, call);
  };
}
