import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

/** A trace context as transported in HTTP headers, gRPC metadata, log records and documents (W3C Trace Context). */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

/** An unvalidated trace context; a malformed one counts as none. */
export interface TraceCarrier {
  traceparent?: string | string[] | undefined;
  tracestate?: string | string[] | undefined;
}

const propagator = new W3CTraceContextPropagator();

/** The trace context in a message's headers, to store with the results of the message; undefined without one. */
export function traceHeadersOf(headers: Record<string, string> | undefined): TraceHeaders | undefined {
  const traceparent = headers?.['traceparent'];
  if (traceparent === undefined) return undefined;
  const tracestate = headers?.['tracestate'];
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

export function extractContext(carrier: TraceCarrier): Context {
  return propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
}

export function injectSpan(span: Span): TraceHeaders {
  const headers = { traceparent: '' };
  propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
  return headers;
}
