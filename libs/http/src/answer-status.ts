import type { ServerResponse } from 'node:http';

/** nginx's status for a client that closed the request before the answer started. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * The status for metrics, logs and traces of a finished request. `res.statusCode` is 200 until it is set, so alone it
 * would count a request whose client gave up waiting as a success.
 */
export function answerStatus(res: ServerResponse): number {
  return res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST;
}
