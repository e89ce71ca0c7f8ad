import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { TracingConfig } from '../config-fields.ts';
import type { Tracing } from './tracing.component.ts';

export interface TracingDeps {
  config: TracingConfig;
  logger: Logger;
  /** Takes the counter `otlp_spans_total`. */
  metrics: Metrics;
}

/**
 * Traces go to the OTLP endpoint of the environment in batches, from a queue of bounded length. An endpoint that fails
 * or hangs costs spans and nothing else: it is reported in the log once a minute at most and in the counter.
 *
 * Without an endpoint there are no tracers, the SDK is not even loaded, and every place that makes spans passes over
 * it.
 */
export async function createTracing({ config, logger, metrics }: TracingDeps): Promise<Tracing> {
  const exported = metrics.counter({
    name: 'otlp_spans_total',
    help: 'Spans, by outcome of their export: exported, failed',
    labelNames: ['outcome'],
  });
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) {
    return { name: 'tracing', tracerOf: () => undefined, start: async () => {}, stop: async () => {} };
  }
  const { createOtlpTracing } = await import('./otlp.tracing.ts');
  return createOtlpTracing({
    endpoint,
    config,
    logger,
    onExported: (outcome, spans) => exported.inc({ outcome }, spans),
  });
}

/** Whether `config` has anything traced. */
export function isTraced(config: TracingConfig): boolean {
  return config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
}
