import { describe, expect, it } from '@jest/globals';
import { Metadata } from '@grpc/grpc-js';
import type { GatewayEventRecord } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { useIngest } from './ingest.stack.ts';
import { TRACE_EXPORT } from './reporter.client.ts';

const mongo = useMongo();
let failure: Error | undefined;
const ingest = useIngest(mongo, (log) => ({
  ...log,
  append: (topic, records) => (failure === undefined ? log.append(topic, records) : Promise.reject(failure)),
}));

interface Exported {
  /** 0 for success, 1 for a failure. */
  code: number;
  error?: Error | undefined;
}

/** A call, as OpenTelemetry's own SDK ends and exports it. */
async function exportCall(headers: Record<string, string>, compression: 'gzip' | 'none'): Promise<Exported> {
  const ended = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: ended })] });
  const span = provider.getTracer('test').startSpan('chat gpt-4o');
  span.setAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 1200,
    'gen_ai.usage.output_tokens': 345,
    'gen_ai.usage.cost': 0.00517,
  });
  span.end();
  await provider.forceFlush();
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const url = `http://${ingest.grpcAddress()}`;
  process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = compression;
  const exporter = new OTLPTraceExporter({ url, metadata, timeoutMillis: 60_000 });
  const result = await new Promise<Exported>((resolve) => {
    exporter.export(ended.getFinishedSpans(), (exported) => resolve(exported));
  });
  await exporter.shutdown();
  await provider.shutdown();
  return result;
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
const events = (tenantId: TenantId) => ingest.logged(tenantId).map(({ event }: GatewayEventRecord) => event);

/** Number of requests by their status. */
async function requests(): Promise<Record<string, number>> {
  const text = await ingest.metrics.registry.metrics();
  const counts = text.matchAll(/^grpc_server_request_duration_seconds_count\{(.*)\} (\d+)$/gm);
  return Object.fromEntries(
    [...counts]
      .filter(([, labels = '']) => labels.includes(TRACE_EXPORT))
      .map(([, labels = '', count]) => [/code="(\w+)"/.exec(labels)?.[1] ?? '', Number(count)]),
  );
}

describe("OpenTelemetry's exporter of traces over gRPC", () => {
  it.each(['none', 'gzip'] as const)('reports a call with the compression %s', async (compression) => {
    const { apiKey, tenantId } = ingest.keys.issue();
    expect(await exportCall(bearer(apiKey), compression)).toMatchObject({ code: 0 });
    await eventually(() =>
      expect(events(tenantId)).toMatchObject([{ type: 'spend.settled', data: { amount_micros: 5170 } }]),
    );
  });

  it('reports the status of a refused batch, and sends the batch once', async () => {
    const { apiKey } = ingest.keys.issue();
    const readOnly = ingest.keys.issue('read_only').apiKey;
    const before = await requests();
    const codes = { 7: exportCall(bearer(readOnly), 'none'), 16: exportCall({}, 'none') };
    for (const [code, result] of Object.entries(codes)) {
      expect(await result).toMatchObject({ code: 1, error: { code: Number(code) } });
    }
    failure = new AppError('service_unavailable', 'The log is full.', { retryAfterSeconds: 1 });
    const refused = await exportCall(bearer(apiKey), 'none');
    failure = undefined;
    expect(refused).toMatchObject({ code: 1, error: { code: 14, details: 'The log is full.' } });
    const after = await requests();
    const sent = ['PERMISSION_DENIED', 'UNAUTHENTICATED', 'UNAVAILABLE'].map(
      (code) => (after[code] ?? 0) - (before[code] ?? 0),
    );
    expect(sent).toEqual([1, 1, 1]);
  });
});
