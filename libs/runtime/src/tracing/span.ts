import {
  type Attributes,
  context,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { AppError } from '@tollkeeper/kernel';
import { extractContext, injectSpan, type TraceCarrier, type TraceHeaders } from './trace-headers.ts';

export type { Span, Tracer };

/** The ends of a call, the ends of a record in the log, or work in between. */
type Kind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

const KINDS: Record<Kind, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export interface SpanOptions {
  /** Of low cardinality: a method and a route template, never a path. */
  name: string;
  kind: Kind;
  /**
   * The trace context of the message being handled: the span continues its trace, or starts one if there is none.
   * Without `parent`, the span is a child of the active one.
   */
  parent?: TraceCarrier | undefined;
  /** Trace contexts of further messages. */
  links?: readonly TraceCarrier[];
  /**
   * Never a secret, a query, or the id of a key. Attribute names are those of OpenTelemetry's conventions, or start
   * with `tollkeeper.`.
   */
  attributes?: Attributes;
}

/** Starts a span; end it with {@link endSpan}. */
export function startSpan(tracer: Tracer, { name, kind, parent, links = [], attributes }: SpanOptions): Span {
  const parentContext = parent === undefined ? context.active() : extractContext(parent);
  return tracer.startSpan(
    name,
    { kind: KINDS[kind], links: links.flatMap(toLink), ...(attributes !== undefined && { attributes }) },
    parentContext,
  );
}

/**
 * Ends the span. With an error it counts as failed. Only the code or name of the error is recorded, since messages can
 * contain anything.
 */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined) failSpan(span, errorType(error));
  span.end();
}

/** Marks the span as failed. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs `work` with the span active, for logs and for spans of its calls. Does not end the span. */
export function withSpan<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Runs `work` in a span of its own, which fails if the work does. Without a tracer, only runs the work. */
export async function inSpan<T>(
  tracer: Tracer | undefined,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work(undefined);
  const span = startSpan(tracer, options);
  return endingSpans([span], () => withSpan(span, () => work(span)));
}

/** Runs `work` and then ends the spans. They fail if the work does. */
export async function endingSpans<T>(spans: readonly Span[], work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    for (const span of spans) endSpan(span);
    return result;
  } catch (error) {
    for (const span of spans) endSpan(span, error);
    throw error;
  }
}

/** The trace context that continues `span` in another process. */
export function headersOf(span: Span): TraceHeaders {
  return injectSpan(span);
}

/** The trace context of the active span; undefined without one. */
export function activeTrace(): TraceHeaders | undefined {
  const span = trace.getActiveSpan();
  return span === undefined ? undefined : injectSpan(span);
}

/** Log fields of the active span; nothing without one. */
export function activeTraceFields(): object {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}

function toLink(carrier: TraceCarrier): Link[] {
  const linked = trace.getSpanContext(extractContext(carrier));
  return linked === undefined ? [] : [{ context: linked }];
}

function errorType(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
