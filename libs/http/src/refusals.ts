import type { Metrics } from '@tollkeeper/runtime';

/** Why a server refused a request or a connection to keep room for others. */
export type RefusalReason =
  /** No room for another body. */
  | 'body_budget'
  /** A slow body lost its room to another one. */
  | 'body_stalled'
  /** Too many gRPC requests wait for the check of their key, or for their bytes. */
  | 'arrival_limit'
  /** The session, the key or the address has too many requests in flight. */
  | 'sender_limit'
  /** The address has received too many bytes of answers that need no session and no key. */
  | 'public_bytes'
  /** A request did not arrive in time. */
  | 'request_timeout'
  /** A connection was closed for another one, or found no room. */
  | 'connection_limit'
  /** Too many pipelined requests on one connection. */
  | 'pipeline_limit'
  /** A connection with unread answers was closed, because all unread answers together took too much memory. */
  | 'unread_budget';

/** Counts refusals in `http_server_refused_total`; one for each server. */
export type CountRefusal = (reason: RefusalReason) => void;

export function createRefusalCounter(metrics: Metrics): CountRefusal {
  const refused = metrics.counter({
    name: 'http_server_refused_total',
    help: 'Requests and connections refused to keep capacity for others, by reason',
    labelNames: ['reason'] as const,
  });
  return (reason) => refused.inc({ reason });
}
