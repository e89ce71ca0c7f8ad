import { spanReport, type TrialCall } from '../pages/connect/trial.ts';
import {
  type Access,
  CONFIG_YAML,
  conventional,
  ENVIRONMENT,
  envoyAccessLog,
  envoyTrial,
  litellmCallback,
  litellmTrial,
  type Sender,
} from './sender.ts';

const MODEL_AND_USAGE =
  'Take json_to_metadata, sse_to_metadata, early_header_mutation_extensions and the clusters from examples/envoy-budgets/envoy.yaml.';

/** An action of Envoy's rate limit that makes an entry of a header, and of what the filters read of a call. */
const header = (name: string, entry: string, more = ', skip_if_absent: true') =>
  `request_headers: { header_name: ${name}, descriptor_key: ${entry}${more} }`;
const read = (entry: string, name = entry) =>
  `metadata: { descriptor_key: ${entry}, metadata_key: { key: tollkeeper, path: [{ key: ${name} }] }, source: DYNAMIC, skip_if_absent: true }`;
const fixed = (entry: string, value: string) => `generic_key: { descriptor_key: ${entry}, descriptor_value: ${value} }`;

const CALL = [header('x-agent', 'agent'), header('x-run', 'run'), header('x-request-id', 'call', '')];
const ANSWER = [read('model', 'response_model'), read('response', 'response_id')];

/** What Envoy asks before a call, and what it reports when the call has ended. */
const RATE_LIMITS = [
  {
    actions: [
      fixed('tollkeeper', 'reserve'),
      ...CALL,
      read('model'),
      read('max_tokens'),
      header('content-length', 'bytes'),
    ],
    hits: 'hits_addend: { number: 50000 }',
  },
  ...['input_tokens', 'output_tokens', 'cached_tokens'].map((unit) => ({
    actions: [fixed('tollkeeper', 'settle'), ...CALL, ...ANSWER, fixed('unit', unit)],
    hits: `hits_addend: { format: '%DYNAMIC_METADATA(tollkeeper:${unit})%' }`,
    isAfter: true,
  })),
  {
    actions: [fixed('tollkeeper', 'done'), ...CALL, ...ANSWER],
    hits: 'hits_addend: { number: 0 }',
    isAfter: true,
  },
].flatMap(({ actions, hits, ...after }) => [
  '  - actions:',
  ...actions.map((action) => `    - ${action}`),
  `    ${hits}`,
  ...('isAfter' in after ? ['    apply_on_stream_done: true'] : []),
]);

const envoyFilter = ({ key }: Access) =>
  [
    '- name: envoy.filters.http.ratelimit',
    '  typed_config:',
    "    '@type': type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit",
    '    domain: tollkeeper',
    '    timeout: 1s',
    '    failure_mode_deny: true',
    '    status_on_error: { code: ServiceUnavailable }',
    '    rate_limit_service:',
    '      transport_api_version: V3',
    '      grpc_service:',
    '        envoy_grpc: { cluster_name: tollkeeper_grpc }',
    '        timeout: 1s',
    `        initial_metadata: [{ key: authorization, value: Bearer ${key} }]`,
  ].join('\n');

const envoyAuthorization = ({ url, key }: Access) =>
  [
    '- name: envoy.filters.http.ext_authz',
    '  typed_config:',
    "    '@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    '    transport_api_version: V3',
    '    failure_mode_allow: false',
    '    status_on_error: { code: ServiceUnavailable }',
    '    with_request_body: { max_request_bytes: 65536, allow_partial_message: true }',
    '    allowed_headers:',
    '      patterns:',
    '      - { exact: x-tollkeeper-agent }',
    '      - { exact: x-tollkeeper-run }',
    '      - { exact: x-request-id }',
    '      - { exact: content-type }',
    '    http_service:',
    `      server_uri: { uri: '${url}', cluster: tollkeeper, timeout: 1s }`,
    '      path_prefix: /api/v1/adapters/authz',
    '      authorization_request:',
    `        headers_to_add: [{ key: x-api-key, value: ${key} }]`,
    '      authorization_response:',
    '        allowed_upstream_headers: { patterns: [{ exact: x-tollkeeper-reservation }] }',
    '        allowed_client_headers: { patterns: [{ exact: retry-after }, { exact: content-type }] }',
  ].join('\n');

const nginx = ({ url, key }: Access) =>
  [
    'location = /tollkeeper {',
    '  internal;',
    `  proxy_pass ${url}/api/v1/adapters/authz?denied_status=403;`,
    '  proxy_ssl_server_name on;',
    '  proxy_pass_request_body off;',
    '  proxy_set_header Content-Length "";',
    `  proxy_set_header X-Api-Key "${key}";`,
    '  proxy_set_header Authorization "";',
    '  proxy_set_header X-Request-Id $request_id;',
    '  proxy_set_header X-Tollkeeper-Agent $http_x_agent;',
    '  proxy_set_header X-Tollkeeper-Run "";',
    '  proxy_set_header X-Tollkeeper-Plan "";',
    '  proxy_set_header X-Tollkeeper-Model "";',
    '  proxy_set_header X-Tollkeeper-Estimate-Micros 50000;',
    '  proxy_connect_timeout 1s;',
    '  proxy_read_timeout 1s;',
    '}',
    'location @denied {',
    '  default_type application/json;',
    '  add_header Retry-After $retry_after always;',
    `  return 429 '{"error":{"message":"$denial","type":"budget_exceeded","param":null,"code":"budget_exceeded"}}';`,
    '}',
  ].join('\n');

const NGINX_LOCATION = [
  'auth_request /tollkeeper;',
  'auth_request_set $denial $upstream_http_x_tollkeeper_denial;',
  'auth_request_set $retry_after $upstream_http_retry_after;',
  'error_page 403 = @denied;',
  'add_header X-Request-Id $request_id always;',
].join('\n');

const traefik = ({ url, key }: Access) =>
  [
    'tollkeeper-key:',
    '  headers:',
    '    customRequestHeaders:',
    `      X-Api-Key: ${key}`,
    "      X-Tollkeeper-Estimate-Micros: '50000'",
    'tollkeeper:',
    '  forwardAuth:',
    `    address: ${url}/api/v1/adapters/authz`,
    '    authRequestHeaders: [X-Api-Key, X-Request-Id, X-Tollkeeper-Agent, X-Tollkeeper-Estimate-Micros]',
    '    authResponseHeaders: [X-Tollkeeper-Reservation]',
    'no-key:',
    "  headers: { customRequestHeaders: { X-Api-Key: '' } }",
  ].join('\n');

const litellmGuardrail = ({ url }: Access) =>
  [
    'guardrails:',
    '- guardrail_name: tollkeeper',
    '  litellm_params:',
    '    guardrail: generic_guardrail_api',
    '    mode: pre_call',
    '    default_on: true',
    `    api_base: ${url}/api/v1/adapters/litellm`,
    '    api_key: os.environ/TOLLKEEPER_KEY',
    '    unreachable_fallback: fail_closed',
    '    timeout: 5',
    '    extra_headers: [x-tollkeeper-agent, x-tollkeeper-run]',
    '    additional_provider_specific_params: { max_output_tokens: 4096 }',
    litellmCallback(url),
  ].join('\n');

function portkey({ url, key }: Access): string {
  const check = (path: string, more = {}) => {
    const parameters = {
      webhookURL: `${url}/api/v1/adapters/portkey/${path}`,
      headers: { Authorization: `Bearer ${key}` },
    };
    return [{ id: 'default.webhook', parameters: { ...parameters, ...more } }];
  };
  const before = check('before?max_output_tokens=4096', { failOnError: true });
  const hooks = {
    before_request_hooks: [{ type: 'guardrail', id: 'tollkeeper', deny: true, checks: before }],
    after_request_hooks: [{ type: 'guardrail', id: 'tollkeeper-after', checks: check('after') }],
  };
  return JSON.stringify(hooks, undefined, 2);
}

/** For gateways that know no tokens. */
const reportByAgent = (call: TrialCall) =>
  spanReport(call, { scope: '', attributes: { ...conventional(call), 'tollkeeper.call_id': call.callId } });

/** Gateways that ask before each call and deny those over a budget, by their settings alone. */
export const BUDGET_GATEWAYS: readonly Sender[] = [
  {
    id: 'envoy-budgets',
    name: 'Envoy budgets',
    settings: (access) => [
      { place: 'http_filters, before the router', text: envoyFilter(access) },
      {
        place: 'typed_per_filter_config of the route',
        text: [
          'envoy.filters.http.ratelimit:',
          "  '@type': type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute",
          '  rate_limits:',
          ...RATE_LIMITS,
        ].join('\n'),
      },
      envoyAccessLog(access),
    ],
    notes: [
      'Denies calls over a budget with 429, and settles each call as soon as it ends. For Envoy 1.40 and later.',
      MODEL_AND_USAGE,
      'The cluster tollkeeper_grpc has the address for gateways, tollkeeper-grpc-enforcer:9090 or ENFORCER_GRPC_PORT.',
      'Keep failure_mode_deny: without it, calls pass while Tollkeeper is unreachable.',
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that a request is a call of a model.',
    trial: envoyTrial,
  },
  {
    id: 'envoy-authorization',
    name: 'Envoy ext_authz',
    settings: (access) => [
      { place: 'http_filters, before the router', text: envoyAuthorization(access) },
      envoyAccessLog(access),
    ],
    notes: [
      'Denies calls over a budget with 429. The access log settles them. Also for the SecurityPolicy of Envoy Gateway.',
      'Set the x-tollkeeper headers in Envoy, and remove those of its callers.',
      MODEL_AND_USAGE,
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that a request is a call of a model.',
    trial: envoyTrial,
  },
  {
    id: 'nginx',
    name: 'nginx',
    settings: (access) => [
      { place: 'server', text: nginx(access) },
      { place: 'Each location that leads to a model', text: NGINX_LOCATION },
    ],
    notes: [
      'Denies calls over a budget with 429, and reserves 5 cents for each call. nginx needs the module auth_request.',
      'nginx knows no tokens, so agents report what their calls used, with the X-Request-Id of the answer as tollkeeper.call_id.',
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that the span is a call of a model.',
    trial: reportByAgent,
  },
  {
    id: 'traefik',
    name: 'Traefik',
    settings: (access) => [
      { place: 'http.middlewares', text: traefik(access) },
      {
        place: 'Each router that leads to a model',
        text: 'middlewares: [tollkeeper-key, tollkeeper, no-key]',
      },
    ],
    notes: [
      'Denies calls over a budget with 429, and reserves 5 cents for each call.',
      'Agents send X-Tollkeeper-Agent, and a new X-Request-Id with each call.',
      'Traefik knows no tokens, so agents report what their calls used, with that id as tollkeeper.call_id.',
    ],
    withoutCalls: 'Keep the attribute gen_ai.operation.name: it says that the span is a call of a model.',
    trial: reportByAgent,
  },
  {
    id: 'litellm-guardrail',
    name: 'LiteLLM guardrail',
    settings: (access) => [
      { place: CONFIG_YAML, text: litellmGuardrail(access) },
      { place: ENVIRONMENT, text: `TOLLKEEPER_KEY=${access.key}` },
    ],
    notes: [
      'Denies calls over a budget with 400. For LiteLLM 1.106 and later.',
      'Keep the name tollkeeper of the guardrail: reports of denied calls are known by it.',
      'LiteLLM sends no max_tokens to guardrails, so max_output_tokens is reserved for each call.',
    ],
    withoutCalls: 'Keep llm_api_success in event_types.',
    trial: litellmTrial,
  },
  {
    id: 'portkey',
    name: 'Portkey',
    settings: (access) => [{ place: 'Config', text: portkey(access) }],
    notes: [
      'Denies calls over a budget with 446. For Portkey 1.15 and later, open source.',
      'Callers send x-portkey-metadata with agent, run and call, a new id for each call. A call without one is denied.',
      'Keep failOnError: without it, calls pass while Tollkeeper is unreachable.',
    ],
    withoutCalls: 'Portkey settles its calls by the hook after them, without reports. They appear under Agents.',
    trial: null,
  },
];
