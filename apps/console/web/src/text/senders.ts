import { logReport, spanReport, TRIAL } from '../pages/connect/trial.ts';
import { BUDGET_GATEWAYS } from './budget.gateways.ts';
import {
  CONFIG_YAML,
  conventional,
  ENVIRONMENT,
  envoyAccessLog,
  envoyTrial,
  litellmCallback,
  litellmTrial,
  otel,
  python,
  type Sender,
} from './sender.ts';

const SAMPLED = 'Turn sampling off: Tollkeeper counts what it gets, and never scales it up.';
const ASK_FOR_USAGE = 'For streamed answers, ask the provider for usage (stream_options: include_usage).';
const ONE_PLACE =
  'Report each call at one place, the gateway or the agent. These reports have no response id, so both would count.';

/** The senders in the order of their tabs. A new one is a row here. */
export const SENDERS: readonly Sender[] = [
  {
    id: 'litellm',
    name: 'LiteLLM callback',
    settings: ({ url, key }) => [
      { place: CONFIG_YAML, text: litellmCallback(url) },
      { place: ENVIRONMENT, text: `TOLLKEEPER_KEY=${key}` },
    ],
    notes: [
      'For LiteLLM 1.106 and later. It sends a batch every 5 seconds.',
      'Keep max_retries: without it, LiteLLM drops a batch that it could not send.',
    ],
    withoutCalls: 'Keep llm_api_success in event_types.',
    trial: litellmTrial,
  },
  {
    id: 'litellm-otel',
    name: 'LiteLLM OpenTelemetry',
    settings: ({ url, key }) => [
      { place: CONFIG_YAML, text: "litellm_settings:\n  callbacks: ['otel']" },
      {
        place: ENVIRONMENT,
        text: [
          'LITELLM_OTEL_V2=true',
          'OTEL_EXPORTER=otlp_http',
          `OTEL_ENDPOINT=${url}`,
          `OTEL_HEADERS="authorization=Bearer ${key}"`,
        ].join('\n'),
      },
      { place: 'Shell', text: 'pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http' },
    ],
    notes: ['LITELLM_OTEL_V2 is required. Without it, spans of successful calls have no model, tokens or cost.'],
    withoutCalls: 'Set LITELLM_OTEL_V2=true, and restart LiteLLM.',
    trial: (call) =>
      spanReport(call, {
        scope: 'litellm',
        attributes: {
          ...conventional(call),
          'litellm.call_id': call.callId,
          'litellm.provider.model': `${TRIAL.provider}/${TRIAL.model}`,
          'litellm.cost.total': TRIAL.usd,
        },
      }),
  },
  {
    id: 'collector',
    name: 'OpenTelemetry Collector',
    settings: ({ url, key }) => [
      {
        place: CONFIG_YAML,
        text: [
          'exporters:',
          '  otlphttp/tollkeeper:',
          `    endpoint: ${url}`,
          '    headers:',
          `      authorization: 'Bearer ${key}'`,
          'service:',
          '  pipelines:',
          '    traces:',
          '      receivers: [otlp]',
          '      processors: [batch]',
          '      exporters: [otlphttp/tollkeeper]',
        ].join('\n'),
      },
    ],
    notes: [
      'Add the exporter to the pipelines that you have, for traces and, if agents report calls by logs, for logs.',
      SAMPLED,
    ],
    withoutCalls: 'Check that no processor removes attributes whose names begin with gen_ai or llm.',
    trial: (call) => spanReport(call, { scope: 'tollkeeper.trial', attributes: conventional(call) }),
  },
  {
    id: 'vercel',
    name: 'Vercel AI SDK',
    settings: (access) => [
      { place: ENVIRONMENT, text: otel(access) },
      {
        place: 'AI SDK 7, once at the start',
        text: [
          "import { OpenTelemetry } from '@ai-sdk/otel';",
          "import { registerTelemetry } from 'ai';",
          '',
          'registerTelemetry(new OpenTelemetry());',
        ].join('\n'),
      },
      {
        place: 'AI SDK 5, in each call',
        text: "experimental_telemetry: { isEnabled: true, functionId: 'my-agent' }",
      },
    ],
    notes: [
      'The program needs an OpenTelemetry SDK that exports traces, such as NodeSDK of @opentelemetry/sdk-node.',
      'In AI SDK 7, experimental_telemetry alone reports nothing.',
    ],
    withoutCalls: 'Register OpenTelemetry (AI SDK 7), or set isEnabled in each call (AI SDK 5).',
    trial: (call) => spanReport(call, { scope: 'gen_ai', attributes: conventional(call) }),
  },
  {
    id: 'openai-agents',
    name: 'OpenAI Agents SDK / OpenInference',
    settings: (access) => [
      {
        place: 'Shell',
        text: 'pip install openinference-instrumentation-openai-agents opentelemetry-exporter-otlp-proto-http',
      },
      { place: ENVIRONMENT, text: otel(access) },
      python('openinference.instrumentation.openai_agents', 'OpenAIAgentsInstrumentor'),
    ],
    notes: ['Other instrumentations of OpenInference need the same settings.', ASK_FOR_USAGE],
    withoutCalls: 'Spans of agents, chains and tools are no calls. Instrument the client of the model as well.',
    trial: (call) =>
      spanReport(call, {
        scope: 'openinference.instrumentation.openai_agents',
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.system': TRIAL.provider,
          'llm.model_name': TRIAL.model,
          'llm.token_count.prompt': TRIAL.input,
          'llm.token_count.completion': TRIAL.output,
        },
      }),
  },
  {
    id: 'openllmetry',
    name: 'OpenLLMetry',
    settings: (access) => [
      {
        place: 'Shell',
        text: 'pip install opentelemetry-instrumentation-openai opentelemetry-exporter-otlp-proto-http',
      },
      { place: ENVIRONMENT, text: otel(access) },
      python('opentelemetry.instrumentation.openai', 'OpenAIInstrumentor'),
    ],
    notes: [ASK_FOR_USAGE, SAMPLED],
    withoutCalls: ASK_FOR_USAGE,
    trial: (call) =>
      spanReport(call, { scope: 'opentelemetry.instrumentation.openai.v1', attributes: conventional(call) }),
  },
  {
    id: 'langfuse',
    name: 'Langfuse SDK',
    settings: ({ url, key }) => [
      {
        place: ENVIRONMENT,
        text: [`LANGFUSE_BASE_URL=${url}`, 'LANGFUSE_PUBLIC_KEY=any', `LANGFUSE_SECRET_KEY=${key}`].join('\n'),
      },
    ],
    notes: ['These settings send to Tollkeeper instead of Langfuse. To send to both, use an OpenTelemetry Collector.'],
    withoutCalls: 'Only observations of the types generation and embedding are calls.',
    trial: (call) =>
      spanReport(call, {
        path: '/api/public/otel/v1/traces',
        scope: 'langfuse-sdk',
        attributes: {
          'langfuse.observation.type': 'generation',
          'langfuse.observation.model.name': TRIAL.model,
          'langfuse.observation.usage_details': JSON.stringify({
            prompt_tokens: TRIAL.input,
            completion_tokens: TRIAL.output,
          }),
        },
      }),
  },
  {
    id: 'mlflow',
    name: 'MLflow',
    settings: ({ url, key }) => [
      { place: 'Shell', text: 'pip install mlflow-tracing opentelemetry-exporter-otlp-proto-http PyYAML sqlparse' },
      {
        place: ENVIRONMENT,
        text: [
          `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${url}/v1/traces`,
          'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf',
          `OTEL_EXPORTER_OTLP_TRACES_HEADERS="authorization=Bearer ${key}"`,
        ].join('\n'),
      },
      { place: 'Python, once at the start', text: 'import mlflow\n\nmlflow.openai.autolog()' },
    ],
    notes: [
      'With OTEL_EXPORTER_OTLP_ENDPOINT instead, mlflow-tracing reports nothing.',
      'Do not set MLFLOW_ENABLE_OTEL_GENAI_SEMCONV: it leaves out which tokens came from a cache.',
      ASK_FOR_USAGE,
    ],
    withoutCalls: 'Turn on the autolog of the library that calls the model, such as mlflow.openai.autolog().',
    trial: (call) =>
      spanReport(call, {
        scope: 'mlflow',
        attributes: {
          'mlflow.spanType': JSON.stringify('CHAT_MODEL'),
          'mlflow.llm.model': JSON.stringify(TRIAL.model),
          'mlflow.llm.provider': JSON.stringify(TRIAL.provider),
          'mlflow.chat.tokenUsage': JSON.stringify({ input_tokens: TRIAL.input, output_tokens: TRIAL.output }),
        },
      }),
  },
  {
    id: 'claude-code',
    name: 'Claude Code',
    settings: ({ url, key }) => [
      {
        place: ENVIRONMENT,
        text: [
          'CLAUDE_CODE_ENABLE_TELEMETRY=1',
          'OTEL_LOGS_EXPORTER=otlp',
          'OTEL_METRICS_EXPORTER=none',
          'OTEL_EXPORTER_OTLP_PROTOCOL=http/json',
          `OTEL_EXPORTER_OTLP_ENDPOINT=${url}`,
          `OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${key}"`,
          'OTEL_RESOURCE_ATTRIBUTES=team.id=my-team',
        ].join('\n'),
      },
    ],
    notes: ['The last line is optional. It labels all calls with a team.', ONE_PLACE],
    withoutCalls: 'Set OTEL_LOGS_EXPORTER=otlp. Metrics and spans of Claude Code count nothing.',
    trial: (call) =>
      logReport(call, {
        scope: 'com.anthropic.claude_code.events',
        attributes: {
          'event.name': 'api_request',
          'event.timestamp': call.at,
          'event.sequence': 1,
          'session.id': call.callId,
          'prompt.id': call.callId,
          model: 'claude-haiku-4-5',
          input_tokens: TRIAL.input,
          output_tokens: TRIAL.output,
          cost_usd_micros: 32,
        },
      }),
  },
  {
    id: 'codex',
    name: 'Codex',
    settings: ({ url, key }) => [
      {
        place: '~/.codex/config.toml',
        text: [
          '[otel]',
          `exporter = { otlp-http = { endpoint = "${url}/v1/logs", protocol = "json", headers = { authorization = "Bearer ${key}" } } }`,
        ].join('\n'),
      },
    ],
    notes: [ONE_PLACE],
    withoutCalls: 'Only log entries about a completed response with its tokens are calls. Finish one turn.',
    trial: (call) =>
      logReport(call, {
        scope: 'codex_otel.log_only',
        attributes: {
          'event.name': 'codex.sse_event',
          'event.kind': 'response.completed',
          'event.timestamp': call.at,
          'conversation.id': call.callId,
          model: 'gpt-5-mini',
          input_token_count: TRIAL.input,
          output_token_count: TRIAL.output,
        },
      }),
  },
  {
    id: 'envoy',
    name: 'Envoy access log',
    settings: (access) => [envoyAccessLog(access)],
    notes: [
      'Envoy 1.40 and later. The filters json_to_metadata and sse_to_metadata write model and usage to the metadata namespace tollkeeper.',
      'The cluster tollkeeper has the address of Tollkeeper.',
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that a request is a call of a model.',
    trial: envoyTrial,
  },
  ...BUDGET_GATEWAYS,
  {
    id: 'curl',
    name: 'curl',
    settings: ({ url, key }) => [
      {
        place: 'Shell',
        text: [
          `curl ${url}/v1/traces \\`,
          `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -H 'X-Tollkeeper-Agent: my-agent' \\`,
          `  -d '{"resourceSpans": [{"scopeSpans": [{"spans": [{"endTimeUnixNano": "'$(date +%s)000000000'", "attributes": [`,
          ...Object.entries({
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': TRIAL.provider,
            'gen_ai.response.model': TRIAL.model,
            'gen_ai.usage.input_tokens': TRIAL.input,
            'gen_ai.usage.output_tokens': TRIAL.output,
          }).map(([name, value]) =>
            typeof value === 'number'
              ? `        {"key": "${name}", "value": {"intValue": "${value}"}},`
              : `        {"key": "${name}", "value": {"stringValue": "${value}"}},`,
          ),
          `        {"key": "tollkeeper.settlement_id", "value": {"stringValue": "curl-'$(date +%s)'"}}]}]}]}]}'`,
        ].join('\n'),
      },
    ],
    notes: [
      'Programs of your own can report like this, as OTLP/JSON. A settlement id counts once.',
      'If you know the amount, add gen_ai.usage.cost in USD as a doubleValue.',
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that the span is a call of a model.',
    trial: (call) =>
      spanReport(call, {
        scope: '',
        attributes: { ...conventional(call), 'tollkeeper.settlement_id': `trial-${call.callId}` },
      }),
  },
];
