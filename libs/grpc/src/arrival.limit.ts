import { type ServerInterceptor, ServerInterceptingCall, ServerListenerBuilder, status } from '@grpc/grpc-js';

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
 * the whole message.
 */
export function createArrivalLimit({ arrivalMs = ARRIVAL_MS, maxArriving = MAX_ARRIVING } = {}): ServerInterceptor {
  let arriving = 0;

  return (_method, call) => {
    let timer: NodeJS.Timeout | undefined;
    let isArriving = false;
    const arrived = (): void => {
      clearTimeout(timer);
      if (isArriving) arriving -= 1;
      isArriving = false;
    };
    return new ServerInterceptingCall(call, {
      start(next) {
        if (arriving >= maxArriving) {
          next();
          call.sendStatus(TOO_MANY);
          return;
        }
        arriving += 1;
        isArriving = true;
        timer = setTimeout(() => {
          arrived();
          call.sendStatus(TOO_SLOW);
        }, arrivalMs);
        const listener = new ServerListenerBuilder()
          .withOnReceiveMessage((message, pass) => {
            arrived();
            pass(message);
          })
          .withOnCancel(arrived)
          .build();
        next(listener);
      },
      sendStatus(answer, next) {
        arrived();
        next(answer);
      },
    });
  };
}
