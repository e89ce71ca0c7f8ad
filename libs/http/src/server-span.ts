import type { IncomingMessage, ServerResponse } from 'node:http';
import { endSpan, failSpan, type Span, startSpan, type Tracer } from '@tollkeeper/runtime';
import { answerStatus } from './answer-status.ts';

/** Starts the span of a received request. It continues the trace of the request, if any. */
export function startServerSpan(tracer: Tracer, { method = '', headers }: IncomingMessage, requestId: string): Span {
  const { traceparent, tracestate } = headers;
  const attributes = { 'http.request.method': method, 'tollkeeper.request_id': requestId };
  return startSpan(tracer, { name: method, kind: 'server', parent: { traceparent, tracestate }, attributes });
}

/** Ends the span with the answer. `route` is a template, never the path; undefined if no route matched. */
export function endServerSpan(span: Span, method: string, route: string | undefined, res: ServerResponse): void {
  if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  const status = answerStatus(res);
  span.setAttribute('http.response.status_code', status);
  if (!res.writableFinished) span.setAttribute('tollkeeper.aborted', true);
  if (status >= 500) failSpan(span, String(status));
  endSpan(span);
}
