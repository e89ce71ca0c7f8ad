import type { IncomingHttpHeaders } from 'node:http';
import { REQUEST_ID_HEADER } from '@tollkeeper/http';
import { headersOf } from '@tollkeeper/runtime';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

/** The headers that pass from clients to any service. All others are removed: caller tokens, addresses, hop-by-hop. */
const PASSED_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-type',
  'user-agent',
];

const TRACE_HEADERS = ['traceparent', 'tracestate'];

/** The headers of a request for a service: lower-case names and values in turn, including `more`. */
export function passedHeaders(req: EdgeRequest, res: EdgeResponse, more: readonly string[] = []): string[] {
  const { requestId, span } = res.locals;
  const headers = [REQUEST_ID_HEADER, requestId];
  pushAll(headers, req.headers, PASSED_HEADERS);
  pushAll(headers, req.headers, more);
  // The client's trace state belongs to the client's parent, but the span may have started a trace of its own.
  pushAll(headers, span === undefined ? req.headers : { ...headersOf(span) }, TRACE_HEADERS);
  return headers;
}

function pushAll(headers: string[], given: IncomingHttpHeaders, names: readonly string[]): void {
  for (const name of names) {
    const value = given[name];
    if (typeof value === 'string') headers.push(name, value);
  }
}
