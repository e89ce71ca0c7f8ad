import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { TracingConfig } from '../config-fields.ts';
import type { Tracing } from './tracing.component.ts';

export interface TracingDeps {
  config: TracingConfig;
  logger: Logger;
  /** Gets the counter `otlp_spans_total`. */
  metrics: Metrics;
}

/**
 * Sends traces to the OTLP endpoint of the environment in batches, from a bounded queue. An endpoint that fails or
 * hangs costs only spans. It is reported in the counter, and in the log at most once a minute.
 *
 * Without an endpoint, the SDK is not loaded, there are no tracers, and code that would make spans skips them.
 */
export async function createTracing({ config, logger, metrics }: TracingDeps): Promise<Tracing> {
  const exported = metrics.counter({
    name: 'otlp_spans_total',
    help: 'Spans, by export outcome: exported, failed',
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

/** Whether `config` enables tracing. */
export function isTraced(config: TracingConfig): boolean {
  return config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
}
