export * from './background.ts';
export * from './config.ts';
export * from './config-fields.ts';
export * from './lifecycle.ts';
export type { LogFields } from './log.fields.ts';
export * from './logger.ts';
export * from './loop.ts';
export * from './metrics.ts';
export * from './ops-server.ts';
export * from './process.ts';
export * from './secret-file.ts';
export * from './service.ts';
export * from './sparing.warner.ts';
export {
  activeTrace,
  endingSpans,
  endSpan,
  failSpan,
  headersOf,
  inSpan,
  type Span,
  type SpanOptions,
  startSpan,
  type Tracer,
  withSpan,
} from './tracing/span.ts';
export { type TraceCarrier, type TraceHeaders, traceHeadersOf } from './tracing/trace-headers.ts';
export type { Tracing } from './tracing/tracing.component.ts';
export { createTracing, isTraced } from './tracing/tracing.ts';
