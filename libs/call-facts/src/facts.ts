import { askFor } from './asked-attributes.ts';
import {
  type Fact,
  afterPrefix,
  beforeSlash,
  count,
  excluding,
  INHERITED,
  instant,
  micros,
  moreThanOnce,
  providerOf,
  resource,
  text,
  texts,
  unless,
  usd,
} from './fact-sources.ts';
import type { Attributes } from './record.ts';

/**
 * What Tollkeeper reads of a call, and by which names senders report it: the first name that has a value wins. A new
 * sender adds its names here. `a#b.c` is `b.c` in the JSON of the attribute `a`. `$.a.b` is in LiteLLM's callback only;
 * names that begin with `metadata.` are in the callback and in LiteLLM's spans.
 */
export const FACTS = {
  responseModel: text(
    unless(isModelGroup, 'gen_ai.response.model'),
    'ai.response.model',
    'langfuse.observation.model.name',
    'llm.model_name',
    'embedding.model_name',
    'mlflow.llm.model#',
    unless(isModelGroup, '$.response.model'),
    afterPrefix('$.model'),
    // MLflow writes JSON, others the name itself.
    'model#',
    'model',
  ),
  requestModel: text(
    afterPrefix('litellm.provider.model'),
    'gen_ai.request.model',
    'ai.model.id',
    afterPrefix('$.model'),
  ),
  /** The name by which the callers of LiteLLM choose a model; not that of a model. */
  modelGroup: text('litellm.model_group', '$.model_group'),
  provider: text(
    providerOf('gen_ai.provider.name'),
    providerOf('gen_ai.system'),
    'llm.provider',
    'llm.system',
    'mlflow.llm.provider#',
    providerOf('ai.model.provider'),
    '$.custom_llm_provider',
    beforeSlash('litellm.provider.model'),
  ),
  inputTokens: count(
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'ai.usage.promptTokens',
    'ai.usage.inputTokens',
    'ai.usage.tokens',
    excluding('cached tokens', 'input_tokens'),
    'input_token_count',
    '$.prompt_tokens',
    'langfuse.observation.usage_details#prompt_tokens',
    'langfuse.observation.usage_details#input',
    'mlflow.chat.tokenUsage#input_tokens',
  ),
  outputTokens: count(
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'ai.usage.completionTokens',
    'ai.usage.outputTokens',
    'output_tokens',
    'output_token_count',
    '$.completion_tokens',
    'langfuse.observation.usage_details#completion_tokens',
    'langfuse.observation.usage_details#output',
    'mlflow.chat.tokenUsage#output_tokens',
  ),
  cacheReadTokens: count(
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.prompt_token_details.cached_read_tokens',
    'gen_ai.usage.cached_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
    'ai.response.providerMetadata#anthropic.usage.cache_read_input_tokens',
    'cache_read_tokens',
    'cached_token_count',
    'metadata.usage_object#prompt_tokens_details.cached_tokens',
    'langfuse.observation.usage_details#prompt_tokens_details.cached_tokens',
    'mlflow.chat.tokenUsage#cache_read_input_tokens',
  ),
  cacheWriteTokens: count(
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.prompt_token_details.cached_write_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.response.providerMetadata#anthropic.usage.cache_creation_input_tokens',
    'cache_creation_tokens',
    'cache_write_token_count',
    'metadata.usage_object#prompt_tokens_details.cache_creation_tokens',
    'mlflow.chat.tokenUsage#cache_creation_input_tokens',
  ),
  cacheWrite1hTokens: count(
    'anthropic.usage.cache_creation.ephemeral_1h_input_tokens',
    'ai.response.providerMetadata#anthropic.usage.cache_creation.ephemeral_1h_input_tokens',
    'metadata.usage_object#prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens',
    'mlflow.chat.tokenUsage#cache_creation_input_tokens_above_1hr',
  ),
  reasoningTokens: count(
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.completion_token_details.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'reasoning_token_count',
    'metadata.usage_object#completion_tokens_details.reasoning_tokens',
    'langfuse.observation.usage_details#completion_tokens_details.reasoning_tokens',
  ),
  serviceTier: text(
    'openai.response.service_tier',
    'gen_ai.openai.response.service_tier',
    'anthropic.response.service_tier',
    'gen_ai.response.service_tier',
    '$.response.service_tier',
  ),
  currency: text('gen_ai.usage.cost.currency'),
  cost: usd(
    'gen_ai.usage.cost.amount',
    'gen_ai.usage.cost',
    'gen_ai.usage.total_cost',
    'litellm.cost.total',
    'gen_ai.cost.total_cost',
    'agw.ai.usage.cost.total',
    'llm.cost.total',
    micros('cost_usd_micros'),
    'cost_usd',
    '$.response_cost',
    'langfuse.observation.cost_details#total',
    'mlflow.llm.cost#total_cost',
  ),
  agent: text(
    'gen_ai.agent.name',
    'agent.name',
    INHERITED,
    'metadata.user_api_key_alias',
    'litellm.metadata.user_api_key_alias',
    'metadata.requester_custom_headers#x-tollkeeper-agent',
    'gen_ai.virtual_key_name',
    'trace.metadata.openrouter.api_key_name',
    'ai.telemetry.functionId',
    resource('service.name'),
  ),
  run: text(
    'gen_ai.conversation.id',
    'session.id',
    'langfuse.session.id',
    'langfuse.observation.metadata.langfuse_session_id#',
    'conversation.id',
    'ai.telemetry.metadata.sessionId',
    'metadata.requester_metadata#run_id',
    'metadata.requester_metadata#session_id',
    'metadata.requester_custom_headers#x-tollkeeper-run',
    '$.session_id',
    '$.trace_id',
    INHERITED,
  ),
  user: text(
    'user.id',
    'enduser.id',
    'gen_ai.user',
    'gen_ai.request.user',
    'llm.user',
    'ai.telemetry.metadata.userId',
    'langfuse.observation.metadata.langfuse_user_id#',
    'metadata.user_api_key_end_user_id',
    'litellm.metadata.user_api_key_end_user_id',
    'metadata.user_api_key_user_id',
    'litellm.metadata.user_api_key_user_id',
  ),
  team: text(
    'litellm.team.alias',
    'metadata.user_api_key_team_alias',
    'gen_ai.team_name',
    'team.id',
    resource('team.id'),
  ),
  plan: text('tollkeeper.plan', 'metadata.user_api_key_auth_metadata#plan_key'),
  eventTime: instant('event.timestamp', '$.endTime'),
  service: text(resource('service.name')),

  settlementId: text('tollkeeper.settlement_id'),
  responseId: text('gen_ai.response.id', 'ai.response.id', '$.id'),
  callId: text('tollkeeper.call_id', 'litellm.call_id', '$.litellm_call_id', 'x-request-id'),
  reservationId: text('tollkeeper.reservation_id'),
  sessionId: text('session.id'),
  conversationId: text('conversation.id'),
  promptId: text('prompt.id'),
  eventSequence: text('event.sequence'),
  eventTimestamp: text('event.timestamp'),

  errorType: text('error.type'),
  httpStatus: count('http.response.status_code'),
  callStatus: text('$.status'),
  /** Envoy's; `DC` is a client that has gone. */
  responseFlags: text('envoy.response_flags'),
  finishReasons: texts('gen_ai.response.finish_reasons', 'llm.finish_reason', 'ai.response.finishReason'),
  guard: text('litellm.guardrail.name', 'guardrail_name'),
  guardStatus: text('litellm.guardrail.status', 'guardrail_status', '$.status_fields.guardrail_status'),
  guards: texts('$.guardrail_information.*.guardrail_name'),
  guardStatuses: texts('$.guardrail_information.*.guardrail_status'),
  /** `ot=th:` of `tracestate` says the same. */
  samplingProbability: moreThanOnce('sampling.probability', 'SampleRate'),
} satisfies Record<string, Fact<unknown>>;

/** LiteLLM repeats the name of the group as the model of an answer. Its newer spans also request that. */
function isModelGroup(model: string, attributes: Attributes): boolean {
  const requested = attributes.has('litellm.provider.model') ? attributes.get('gen_ai.request.model') : undefined;
  return [attributes.get('litellm.model_group'), attributes.get('$.model_group'), requested].includes(model);
}

type Conditions = Readonly<Record<string, (value: string) => boolean>>;

/** Decides about a record that has values for all of the names: `scope`, `eventName`, or those of attributes. */
export interface CallRule {
  of: readonly ('span' | 'log')[];
  when: Conditions;
  /** Why records like this are no calls; undefined if they are. */
  notBecause?: string;
}

const oneOf =
  (...values: readonly string[]) =>
  (value: string): boolean =>
    values.includes(value);
const present = (): boolean => true;

const INFERENCE = oneOf(
  ...['chat', 'text_completion', 'generate_content', 'embeddings', 'rerank', 'image_generation', 'speech'],
  'transcription',
  // LiteLLM's older spans have the name of its function.
  ...['completion', 'text_completion', 'embedding', 'responses', 'rerank', 'image_generation'].flatMap(withAsync),
  ...['speech', 'transcription'].flatMap(withAsync),
  'anthropic_messages',
);

function withAsync(name: string): string[] {
  return [name, `a${name}`];
}

/** Operations around calls, which often repeat the usage of the calls in them. */
const AROUND_CALLS = oneOf(
  ...['invoke_agent', 'create_agent', 'agent_step', 'execute_tool', 'plan', 'retrieval', 'invoke_workflow'],
  ...['apply_guardrail', 'fetch_response'],
);

/** Which spans and log entries are calls: the first rule that applies decides. Without one, a record is no call. */
export const CALL_RULES: readonly CallRule[] = [
  {
    of: ['span'],
    when: { scope: (scope) => scope.startsWith('com.anthropic.claude_code') },
    notBecause: "Claude Code's log entries report its calls",
  },
  {
    of: ['span', 'log'],
    when: { 'gen_ai.operation.name': (operation) => AROUND_CALLS(operation) || operation.includes('_memory') },
    notBecause: 'gen_ai.operation.name is that of an operation around calls',
  },
  {
    of: ['span', 'log'],
    when: { 'openinference.span.kind': oneOf('AGENT', 'CHAIN', 'TOOL', 'GUARDRAIL', 'RETRIEVER') },
    notBecause: 'openinference.span.kind is that of a step around calls',
  },
  { of: ['span', 'log'], when: { 'gen_ai.operation.name': INFERENCE } },
  { of: ['span'], when: { 'openinference.span.kind': oneOf('LLM', 'EMBEDDING', 'RERANKER') } },
  {
    of: ['span'],
    when: { 'ai.operationId': (id) => /\.(doGenerate|doStream|doEmbed|doEmbedMany|doRerank)$/.test(id) },
  },
  { of: ['span'], when: { 'langfuse.observation.type': oneOf('generation', 'embedding') } },
  { of: ['span'], when: { 'mlflow.spanType#': oneOf('CHAT_MODEL', 'LLM', 'EMBEDDING', 'RERANKER') } },
  { of: ['span'], when: { 'llm.request.type': present } },
  {
    of: ['log'],
    when: { scope: oneOf('com.anthropic.claude_code.events'), eventName: oneOf('api_request') },
  },
  {
    of: ['log'],
    // The event comes twice, and once without tokens.
    when: {
      eventName: oneOf('codex.sse_event'),
      'event.kind': oneOf('response.completed'),
      input_token_count: present,
    },
  },
  { of: ['log'], when: { eventName: oneOf('gen_ai.client.inference.operation.details') } },
];

/** The name of an event may also be an attribute. */
export const EVENT_NAME = 'event.name';

const OF_RECORDS = ['scope', 'eventName'];

/** All names that decoders keep: whatever else a record has is never read. */
export const ASKED = askFor([
  EVENT_NAME,
  ...Object.values(FACTS).flatMap(({ sources }) => sources.flatMap((source) => source.name ?? [])),
  ...CALL_RULES.flatMap(({ when }) => Object.keys(when)).filter((name) => !OF_RECORDS.includes(name)),
]);
