import { randomUUID } from 'node:crypto';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';
import { createSparingWarner } from '../sparing.warner.ts';
import type { Tracing } from './tracing.component.ts';
import type { TracingConfig } from '../config-fields.ts';

/** Attribute values are truncated to this length, so that no input makes a span large. */
const MAX_ATTRIBUTE_LENGTH = 256;
const MAX_BATCH = 512;
const EXPORT_TIMEOUT_MS = 10_000;
/** Time at a stop to send the remaining spans. */
const STOP_TIMEOUT_MS = 3_000;

export interface OtlpTracingDeps {
  endpoint: string;
  config: TracingConfig;
  logger: Logger;
  onExported: (outcome: 'exported' | 'failed', spans: number) => void;
}

/** One queue and one exporter for the process, and a provider for each service in it. */
export function createOtlpTracing({ endpoint, config, logger, onExported }: OtlpTracingDeps): Tracing {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor({
    exporter: withReport(exporter, createReport(logger, onExported)),
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: Math.min(MAX_BATCH, config.OTEL_BSP_MAX_QUEUE_SIZE),
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const instance = randomUUID();
  let stopping: Promise<void> | undefined;

  return {
    name: 'tracing',
    tracerOf(service, version) {
      const provider = new TracerProvider({
        resource: resourceOf({ service, version, instance }, config),
        sampler: samplerOf(config),
        spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
        spanProcessors: [processor],
      });
      return provider.getTracer('tollkeeper');
    },
    start: async () => {},
    stop() {
      stopping ??= flush(processor);
      return stopping;
    },
  };
}

async function flush(processor: BatchSpanProcessor): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_TIMEOUT_MS)));
  // The exporter has reported all failures.
  await Promise.race([processor.shutdown().catch(() => undefined), timeout]);
  clearTimeout(timer);
}

interface Origin {
  service: string;
  version: string | undefined;
  instance: string;
}

function resourceOf({ service, version, instance }: Origin, config: TracingConfig): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.namespace': 'tollkeeper',
      'service.instance.id': instance,
      ...(version !== undefined && { 'service.version': version }),
      ...parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES),
      'service.name': service,
    }),
  );
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingConfig): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

type Report = (result: ExportResult, spans: number) => void;

function createReport(logger: Logger, onExported: OtlpTracingDeps['onExported']): Report {
  const warn = createSparingWarner(
    logger,
    () => performance.now(),
    'spans could not be exported and were dropped. Check that OTEL_EXPORTER_OTLP_ENDPOINT ' +
      'accepts OTLP over HTTP (port 4318 of a collector, not 4317) and that OTEL_EXPORTER_OTLP_HEADERS has its credentials',
  );
  return ({ code, error }, spans) => {
    onExported(code === ExportResultCode.SUCCESS ? 'exported' : 'failed', spans);
    if (code !== ExportResultCode.SUCCESS) warn({ reason: reasonOf(error), spans });
  };
}

/** Only the status line of an endpoint's answer is logged, because its body can quote the request. */
function reasonOf(error: Error | undefined): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return [code, error?.message].filter((part) => part !== undefined && part !== '').join(' ');
}

function withReport(exporter: SpanExporter, report: Report): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        report(result, spans.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
