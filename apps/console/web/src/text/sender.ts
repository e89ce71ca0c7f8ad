import { TRIAL, type TrialCall, type TrialReport } from '../pages/connect/trial.ts';

/** The address of Tollkeeper and a workspace key, or what stands for it. */
interface Access {
  url: string;
  key: string;
}

/** Text to paste, and where. */
interface Setting {
  place: string;
  text: string;
}

/** A kind of gateway or agent that reports calls. */
export interface Sender {
  /** In the URL. */
  id: string;
  name: string;
  settings: (access: Access) => readonly Setting[];
  notes: readonly string[];
  /** What to do if it reports, but no calls. */
  withoutCalls: string;
  trial: (call: TrialCall) => TrialReport;
}

/** The variables that most OpenTelemetry SDKs read. */
export const otel = ({ url, key }: Access): string =>
  [
    `OTEL_EXPORTER_OTLP_ENDPOINT=${url}`,
    'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    `OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer ${key}"`,
  ].join('\n');

/** The call by the names of OpenTelemetry's conventions. */
export const conventional = ({ responseId }: TrialCall) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': TRIAL.provider,
  'gen_ai.response.model': TRIAL.model,
  'gen_ai.response.id': responseId,
  'gen_ai.usage.input_tokens': TRIAL.input,
  'gen_ai.usage.output_tokens': TRIAL.output,
});

/** Python that reports what an instrumentation sees. */
export const python = (module: string, instrumentor: string): Setting => ({
  place: 'Python, once at the start',
  text: [
    'from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter',
    'from opentelemetry.sdk.trace import TracerProvider',
    'from opentelemetry.sdk.trace.export import BatchSpanProcessor',
    `from ${module} import ${instrumentor}`,
    '',
    'provider = TracerProvider()',
    'provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))',
    `${instrumentor}().instrument(tracer_provider=provider)`,
  ].join('\n'),
});
