import {
  type AttributeValue,
  ifValid,
  type JsonScanner,
  pathTree,
  readTree,
  toIdentifier,
} from '@tollkeeper/call-facts';
import { callRequestId, type Labels, labelValue, modelName, planKey, providerName } from '@tollkeeper/contracts';
import type { CallUsage } from './call.end.ts';

/** What Portkey's webhook says of a call, without its prompt and its answer: values by their paths. */
interface ReadHook {
  values: ReadonlyMap<string, AttributeValue>;
  /** Those of the request to the model. */
  inputBytes: number;
}

/** More is no number of tokens, and the sum of several could not be exact. */
const MAX_USED_TOKENS = 1e12;

const REQUEST = pathTree(['model', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n']);
const OTHERS = {
  provider: pathTree(['']),
  metadata: pathTree(['call', 'agent', 'run', 'plan', '_user']),
  response: pathTree([
    ...['statusCode', 'json.id', 'json.model', 'json.usage.prompt_tokens', 'json.usage.completion_tokens'],
    ...['json.usage.prompt_tokens_details.cached_tokens', 'json.usage.input_tokens', 'json.usage.output_tokens'],
    ...['json.usage.cache_read_input_tokens', 'json.usage.cache_creation_input_tokens'],
  ]),
} as const;

export function* readHook(json: JsonScanner): Generator<undefined, ReadHook> {
  const values = new Map<string, AttributeValue>();
  let inputBytes = 0;
  const keep = (prefix: string, found: ReadonlyMap<string, AttributeValue>) => {
    for (const [path, value] of found) values.set(path === '' ? prefix : `${prefix}.${path}`, value);
  };
  for (const key of json.keys()) {
    if (key === undefined) yield undefined;
    else if (key === 'request') {
      for (const part of json.keys()) {
        if (part === undefined) yield undefined;
        else if (part === 'json') {
          json.peek();
          const start = json.at;
          keep('request', yield* readTree(json, REQUEST));
          inputBytes = json.at - start;
        }
      }
    } else if (isRead(key)) keep(key, yield* readTree(json, OTHERS[key]));
  }
  return { values, inputBytes };
}

function isRead(key: string): key is keyof typeof OTHERS {
  return Object.hasOwn(OTHERS, key);
}

/** A call as one of Portkey's hooks describes it. */
export type PortkeyCall = ReturnType<typeof portkeyCall>;

/** `agent` is the one that the headers of the webhook name for all calls. */
export function portkeyCall({ values, inputBytes }: ReadHook, agent: string | undefined) {
  const text = (path: string) => {
    const value = values.get(path);
    return value === undefined || value === '' ? undefined : String(value);
  };
  const count = (...paths: string[]) => {
    const found = paths.map((path) => values.get(path)).find((value) => value !== undefined);
    return Number.isSafeInteger(found) && Number(found) >= 0 ? Number(found) : undefined;
  };
  const used = (...names: string[]) => {
    const found = count(...names.map((name) => `response.json.usage.${name}`));
    return found !== undefined && found <= MAX_USED_TOKENS ? found : undefined;
  };
  const callId = text('metadata.call');
  const requestId = callId === undefined ? undefined : callRequestId(callId);
  const user = ifValid(labelValue, text('metadata._user'));
  const labels: Labels = user === undefined ? {} : { user };
  // Which of them counts depends on the API. Some gateways take 0 for none.
  const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].map((name) => count(`request.${name}`));
  const outputTokens = Math.max(...limits.map((limit = 0) => limit)) * (count('request.n') || 1);
  return {
    requestId,
    agentId: toIdentifier(agent ?? text('metadata.agent') ?? 'portkey'),
    runId: toIdentifier(text('metadata.run') ?? requestId ?? 'unknown'),
    planKey: ifValid(planKey, text('metadata.plan')) ?? null,
    model: ifValid(modelName, text('response.json.model') ?? text('request.model')) ?? null,
    provider: ifValid(providerName, text('provider')) ?? null,
    labels,
    inputBytes,
    outputTokens: outputTokens || undefined,
    status: count('response.statusCode'),
    responseId: text('response.json.id'),
    usage: usageOf({
      // Anthropic's input excludes what was read from a cache or written to one.
      input: used('prompt_tokens') ?? sum(used('input_tokens'), used('cache_creation_input_tokens')),
      output: used('completion_tokens', 'output_tokens'),
      cached: used('prompt_tokens_details.cached_tokens', 'cache_read_input_tokens'),
      cachedIsExtra: used('prompt_tokens') === undefined,
    }),
  };
}

function sum(one: number | undefined, other = 0): number | undefined {
  return one === undefined ? undefined : one + other;
}

interface SaidUsage {
  input: number | undefined;
  output: number | undefined;
  cached: number | undefined;
  cachedIsExtra: boolean;
}

function usageOf({ input, output, cached, cachedIsExtra }: SaidUsage): CallUsage {
  return {
    ...(input !== undefined && { inputTokens: input + (cachedIsExtra ? (cached ?? 0) : 0) }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cached !== undefined && { cachedTokens: cached }),
  };
}
