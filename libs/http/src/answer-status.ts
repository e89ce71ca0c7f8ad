import type { ServerResponse } from 'node:http';

/** As nginx counts it: the client closed the request before an answer began. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * The status that a request is counted, logged and traced by once it is over. `res.statusCode` is 200 until somebody
 * sets it, so on its own it counts every request as a success whose client gave up waiting.
 */
export function answerStatus(res: ServerResponse): number {
  return res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST;
}
