import { constants, type ServerHttp2Stream } from 'node:http2';
import { type ServerInterceptor, ServerInterceptingCall, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { createFairRoom } from './fair.room.ts';

/** Longest time in which a request must arrive, in milliseconds, from any sender. */
const ARRIVAL_MS = 5_000;
/** Most requests that are arriving at a server at a time. Their parts are kept in memory. */
const MAX_ARRIVING = 1_000;

const TOO_SLOW = { code: status.DEADLINE_EXCEEDED, details: 'The request did not arrive within 5 seconds.' };
const TOO_MANY = {
  code: status.RESOURCE_EXHAUSTED,
  details: 'Too many requests are arriving at this server. Try again shortly.',
};

/** Most unread answers of a server. */
const MAX_UNREAD = 5_000;

/**
 * Bounds the memory of requests that never arrive completely. Handlers, and so authentication, start only after the
 * whole request. If too many are arriving, the oldest request of the address with most is refused. If too many answers
 * are unread, the oldest answer of the address with most is dropped.
 */
export function createArrivalLimit({
  arrivalMs = ARRIVAL_MS,
  maxArriving = MAX_ARRIVING,
  maxUnread = MAX_UNREAD,
} = {}): ServerInterceptor {
  const arriving = createFairRoom<ServerInterceptingCall>(maxArriving, (call) => call.sendStatus(TOO_MANY));
  const unread = createFairRoom<ServerHttp2Stream>(maxUnread, (stream) => stream.destroy());

  return (_method, call) => {
    const address = call.getConnectionInfo().remoteAddress ?? '';
    let timer: NodeJS.Timeout | undefined;
    let hasArrived = false;
    let isRefused = false;
    const stream = streamOf(call);
    const leave = (): void => {
      clearTimeout(timer);
      arriving.delete(address, limited);
      if (stream !== undefined) unread.delete(address, stream);
    };
    const limited: ServerInterceptingCall = new ServerInterceptingCall(call, {
      start(next) {
        timer = setTimeout(() => limited.sendStatus(TOO_SLOW), arrivalMs);
        const listener = new ServerListenerBuilder()
          .withOnReceiveHalfClose((pass) => {
            // A refused request must not be handled any more.
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
      sendMessage(message, next) {
        // Until the status can be sent after the message, which needs the client to take the message.
        if (stream?.closed === false) unread.add(address, stream);
        next(message);
      },
      sendStatus(answer, next) {
        leave();
        isRefused = !hasArrived;
        next(answer);
        // The client may never end a request that was answered before it was complete (RFC 9113, 8.1).
        if (isRefused) stream?.close(constants.NGHTTP2_NO_ERROR);
      },
    });
    return limited;
  };
}

/** Interceptors of grpc-js can neither close the stream of a call, nor notice its end after the status. */
export function streamOf(call: unknown): ServerHttp2Stream | undefined {
  return (call as { stream?: ServerHttp2Stream }).stream;
}
