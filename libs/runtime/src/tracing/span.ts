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

/** Both ends of a call, both ends of a record in the log, or work in between. */
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
   * What came with the message that this is about: the span continues its trace, or begins one where it carries none.
   * Without `parent` the span belongs to the one that is active.
   */
  parent?: TraceCarrier | undefined;
  /** Other messages that this is about. */
  links?: readonly TraceCarrier[];
  /**
   * Never a secret, a query, or an id of a key; keys are those of OpenTelemetry's conventions, or begin with
   * `tollkeeper.`.
   */
  attributes?: Attributes;
}

/** A span that has begun; end it with {@link endSpan}. */
export function startSpan(tracer: Tracer, { name, kind, parent, links = [], attributes }: SpanOptions): Span {
  const parentContext = parent === undefined ? context.active() : extractContext(parent);
  return tracer.startSpan(
    name,
    { kind: KINDS[kind], links: links.flatMap(toLink), ...(attributes !== undefined && { attributes }) },
    parentContext,
  );
}

/**
 * Ends the span. With an error it counts as failed; only the code or name of the error is recorded, since messages can
 * hold anything.
 */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined) failSpan(span, errorType(error));
  span.end();
}

/** Marks the span as failed. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs `work` with the span active, for logs and for spans of what it calls. The span is not ended. */
export function withSpan<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Runs `work` in a span of its own, which fails as the work does. Without a tracer it just runs. */
export async function inSpan<T>(
  tracer: Tracer | undefined,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work(undefined);
  const span = startSpan(tracer, options);
  return endingSpans([span], () => withSpan(span, () => work(span)));
}

/** Runs `work` and ends the spans after it. They fail as the work does. */
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
