import { constants, type ServerHttp2Stream } from 'node:http2';
import { type ServerInterceptor, ServerInterceptingCall, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { createFairRoom } from './fair.room.ts';

/** Longest that a request may take to arrive, in milliseconds, whoever sends it. */
const ARRIVAL_MS = 5_000;
/** Most requests of a server that are arriving at a time. What has come of them is kept in memory. */
const MAX_ARRIVING = 1_000;

const TOO_SLOW = { code: status.DEADLINE_EXCEEDED, details: 'The request did not arrive within 5 seconds.' };
const TOO_MANY = {
  code: status.RESOURCE_EXHAUSTED,
  details: 'Too many requests are arriving at this server. Try again shortly.',
};

/**
 * Bounds what requests that never arrive hold: a handler, and with it the check of who is calling, begins only behind
 * the whole request. If too many are arriving, the oldest of the address that sends most is refused.
 */
export function createArrivalLimit({ arrivalMs = ARRIVAL_MS, maxArriving = MAX_ARRIVING } = {}): ServerInterceptor {
  const arriving = createFairRoom<ServerInterceptingCall>(maxArriving, (call) => call.sendStatus(TOO_MANY));

  return (_method, call) => {
    const address = call.getConnectionInfo().remoteAddress ?? '';
    let timer: NodeJS.Timeout | undefined;
    let hasArrived = false;
    let isRefused = false;
    const leave = (): void => {
      clearTimeout(timer);
      arriving.delete(address, limited);
    };
    const limited: ServerInterceptingCall = new ServerInterceptingCall(call, {
      start(next) {
        timer = setTimeout(() => limited.sendStatus(TOO_SLOW), arrivalMs);
        const listener = new ServerListenerBuilder()
          .withOnReceiveHalfClose((pass) => {
            // What was refused must not be done any more.
            if (isRefused) return;
            hasArrived = true;
            leave();
            pass();
          })
          .withOnCancel(leave)
          .build();
        next(listener);
        arriving.add(address, limited);
      },
      sendStatus(answer, next) {
        leave();
        isRefused = !hasArrived;
        next(answer);
        if (isRefused) closeStreamOf(call);
      },
    });
    return limited;
  };
}

/**
 * Ends the stream of a call that was answered before its request was whole (RFC 9113, 8.1). The client may never do
 * it, and grpc-js has no way to do it.
 */
function closeStreamOf(call: unknown): void {
  const { stream } = call as { stream?: ServerHttp2Stream };
  stream?.close(constants.NGHTTP2_NO_ERROR);
}
