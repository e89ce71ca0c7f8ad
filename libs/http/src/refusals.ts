import type { Metrics } from '@tollkeeper/runtime';

/** Why a server refused a request or a connection to keep room for others. */
export type RefusalReason =
  /** No room for another body. */
  | 'body_budget'
  /** A body that came too slowly gave way to another. */
  | 'body_stalled'
  /** The session, the key or the address has too many requests in flight. */
  | 'sender_limit'
  /** The address has taken too much of what needs no session and no key. */
  | 'public_bytes'
  /** A request did not arrive in time. */
  | 'request_timeout'
  /** A connection gave way to another, or found no room. */
  | 'connection_limit'
  /** More requests were sent ahead on one connection than wait there. */
  | 'pipeline_limit'
  /** A connection whose client leaves answers unread gave way, because those of all take too much memory. */
  | 'unread_budget';

/** Counts what is turned away, in `http_server_refused_total`; one for each server. */
export type CountRefusal = (reason: RefusalReason) => void;

export function createRefusalCounter(metrics: Metrics): CountRefusal {
  const refused = metrics.counter({
    name: 'http_server_refused_total',
    help: 'Requests and connections turned away to keep room for others',
    labelNames: ['reason'] as const,
  });
  return (reason) => refused.inc({ reason });
}
