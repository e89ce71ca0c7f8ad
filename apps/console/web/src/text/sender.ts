import { logReport, TRIAL, TRIAL_AGENT, type TrialCall, type TrialReport } from '../pages/connect/trial.ts';

export const ENVIRONMENT = 'Environment';
export const CONFIG_YAML = 'config.yaml';

/** The address of Tollkeeper and a workspace key, or what stands for it. */
export interface Access {
  url: string;
  key: string;
}

/** Text to paste, and where. */
interface Setting {
  place: string;
  text: string;
}

/** A kind of gateway or agent that reports calls, or asks before them. */
export interface Sender {
  /** In the URL. */
  id: string;
  name: string;
  settings: (access: Access) => readonly Setting[];
  notes: readonly string[];
  /** What to do if it reports, but no calls, or why it sends no reports. */
  withoutCalls: string;
  /** Null if it settles its calls itself, so that no report arrives. */
  trial: ((call: TrialCall) => TrialReport) | null;
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

/** Lines of LiteLLM's configuration that make it report each call. */
export const litellmCallback = (url: string): string =>
  [
    'litellm_settings:',
    "  callbacks: ['tollkeeper']",
    'callback_settings:',
    '  tollkeeper:',
    '    callback_type: generic_api',
    `    endpoint: ${url}/api/v1/intake/litellm`,
    '    headers: { x-api-key: os.environ/TOLLKEEPER_KEY }',
    '    event_types: [llm_api_success, llm_api_failure]',
    '    log_format: ndjson',
    '    max_retries: 8',
    '    retry_delay: 1',
  ].join('\n');

export const litellmTrial = ({ responseId, callId }: TrialCall): TrialReport => ({
  path: '/api/v1/intake/litellm',
  body: {
    id: responseId,
    litellm_call_id: callId,
    status: 'success',
    custom_llm_provider: TRIAL.provider,
    model: `${TRIAL.provider}/${TRIAL.model}`,
    response_cost: TRIAL.usd,
    prompt_tokens: TRIAL.input,
    completion_tokens: TRIAL.output,
    endTime: Date.now() / 1_000,
  },
});

/** What Envoy's access log has of a call, and where it finds it. */
const ENVOY_ATTRIBUTES = [
  ['gen_ai.operation.name', 'chat'],
  ['gen_ai.agent.name', '%REQ(X-AGENT)%'],
  ['gen_ai.conversation.id', '%REQ(X-RUN)%'],
  ['gen_ai.request.model', '%DYNAMIC_METADATA(tollkeeper:model)%'],
  ['gen_ai.response.model', '%DYNAMIC_METADATA(tollkeeper:response_model)%'],
  ['gen_ai.response.id', '%DYNAMIC_METADATA(tollkeeper:response_id)%'],
  ['gen_ai.usage.input_tokens', '%DYNAMIC_METADATA(tollkeeper:input_tokens)%'],
  ['gen_ai.usage.output_tokens', '%DYNAMIC_METADATA(tollkeeper:output_tokens)%'],
  ['gen_ai.usage.cache_read.input_tokens', '%DYNAMIC_METADATA(tollkeeper:cached_tokens)%'],
  ['tollkeeper.call_id', '%REQ(X-REQUEST-ID)%'],
  ['http.response.status_code', '%RESPONSE_CODE%'],
  ['envoy.response_flags', '%RESPONSE_FLAGS%'],
] as const;

export const envoyAccessLog = ({ url, key }: Access): Setting => ({
  place: 'http_connection_manager',
  text: [
    'access_log:',
    '- name: envoy.access_loggers.open_telemetry',
    '  typed_config:',
    "    '@type': type.googleapis.com/envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig",
    '    log_name: tollkeeper',
    '    http_service:',
    `      http_uri: { uri: '${url}/v1/logs', cluster: tollkeeper, timeout: 10s }`,
    `      request_headers_to_add: [{ header: { key: authorization, value: 'Bearer ${key}' } }]`,
    '    attributes:',
    '      values:',
    ...ENVOY_ATTRIBUTES.map(([name, value]) => `      - { key: ${name}, value: { string_value: '${value}' } }`),
  ].join('\n'),
});

export const envoyTrial = (call: TrialCall): TrialReport =>
  logReport(call, {
    scope: '',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': TRIAL_AGENT,
      'gen_ai.response.model': TRIAL.model,
      'gen_ai.response.id': call.responseId,
      // Envoy writes all values as text.
      'gen_ai.usage.input_tokens': String(TRIAL.input),
      'gen_ai.usage.output_tokens': String(TRIAL.output),
      'tollkeeper.call_id': call.callId,
      'http.response.status_code': '200',
      'envoy.response_flags': '-',
    },
  });
