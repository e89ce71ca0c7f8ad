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

/** Most answers of a server that clients have not read yet. */
const MAX_UNREAD = 5_000;

/**
 * Bounds what requests that never arrive hold: a handler, and with it the check of who is calling, begins only behind
 * the whole request. If too many are arriving, the oldest of the address that sends most is refused. If too many
 * answers are not read, the oldest of the address that leaves most is dropped.
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
      sendMessage(message, next) {
        // Until its status can be sent behind it, which waits for the client to take the message.
        if (stream?.closed === false) unread.add(address, stream);
        next(message);
      },
      sendStatus(answer, next) {
        leave();
        isRefused = !hasArrived;
        next(answer);
        // The client may never end a request that was answered before it was whole (RFC 9113, 8.1).
        if (isRefused) stream?.close(constants.NGHTTP2_NO_ERROR);
      },
    });
    return limited;
  };
}

/** The interceptors of grpc-js have no way to close the stream of a call, nor to learn of its end behind its status. */
function streamOf(call: unknown): ServerHttp2Stream | undefined {
  return (call as { stream?: ServerHttp2Stream }).stream;
}
