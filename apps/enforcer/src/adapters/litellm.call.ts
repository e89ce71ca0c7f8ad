import {
  type AttributeValue,
  createSpanTree,
  emptyRecord,
  factsOf,
  type FactTable,
  ifValid,
  type JsonScanner,
  MAX_TEXT_BYTES,
  originOf,
} from '@tollkeeper/call-facts';
import { callRequestId, invalidRequest, issueMessage, modelName, toErrorDetails } from '@tollkeeper/contracts';
import { hookSettings } from './hook.settings.ts';
import { skippedBytes } from './scanned.body.ts';

/** What LiteLLM's guardrail says of a call, without its prompt. */
interface ReadGuardrail {
  /** By the names under which its callback reports the same. */
  attributes: Map<string, AttributeValue>;
  callId: string | undefined;
  /** The name of the group of models. */
  model: string | undefined;
  /** Those of the texts and the tools, as they are sent. */
  inputBytes: number;
  settings: Map<string, AttributeValue>;
}

const NOTHING_TO_ASK = 'response';
/** Stands for the value of a header that `extra_headers` does not list. */
const HIDDEN = '[present]';
/** Its fields under other names: `request_data.x` is `metadata.x` of the callback. */
const CUSTOM_HEADERS = 'metadata.requester_custom_headers#';
const SETTINGS: ReadonlySet<string> = new Set(Object.keys(hookSettings.shape));

/** Undefined for an answer of a model, about which there is nothing to ask. */
export function* readGuardrail(json: JsonScanner, table: FactTable): Generator<undefined, ReadGuardrail | undefined> {
  const attributes = new Map<string, AttributeValue>();
  const settings = new Map<string, AttributeValue>();
  const asked = new Set(table.asked.names);
  const keep = (name: string, value: AttributeValue | undefined) => {
    if (value !== undefined && value !== HIDDEN && asked.has(name)) attributes.set(name, value);
  };
  function* members(json: JsonScanner, note: (key: string) => void): Generator<undefined> {
    for (const key of json.keys()) {
      if (key === undefined) yield undefined;
      else note(key);
    }
  }
  let inputBytes = 0;
  const texts = new Map<string, string>();
  for (const key of json.keys()) {
    switch (key) {
      case undefined:
        yield undefined;
        break;
      case 'input_type':
        if (json.scalar(MAX_TEXT_BYTES) === NOTHING_TO_ASK) return undefined;
        break;
      case 'texts':
      case 'tools':
      case 'tool_calls':
        inputBytes += yield* skippedBytes(json);
        break;
      case 'litellm_call_id':
      case 'litellm_trace_id':
      case 'model': {
        const value = json.scalar(MAX_TEXT_BYTES);
        if (typeof value === 'string') texts.set(key, value);
        break;
      }
      case 'request_data':
        yield* members(json, (name) => keep(`metadata.${name}`, json.scalar(MAX_TEXT_BYTES)));
        break;
      case 'request_headers':
        yield* members(json, (name) => keep(`${CUSTOM_HEADERS}${name}`, json.scalar(MAX_TEXT_BYTES)));
        break;
      case 'additional_provider_specific_params':
        yield* members(json, (name) => {
          const value = SETTINGS.has(name) ? json.scalar(MAX_TEXT_BYTES) : undefined;
          if (value !== undefined) settings.set(name, value);
        });
        break;
    }
  }
  const [callId, model] = [texts.get('litellm_call_id'), texts.get('model')];
  keep('$.litellm_call_id', callId);
  keep('$.trace_id', texts.get('litellm_trace_id'));
  keep('$.model', model);
  return { attributes, callId, model, inputBytes, settings };
}

/** The call as LiteLLM's callback will report it. Throws `invalid_request`. */
export function litellmCall(
  { attributes, callId, model, inputBytes, settings }: ReadGuardrail,
  { table, agent, receivedMs }: { table: FactTable; agent: string | undefined; receivedMs: number },
) {
  if (callId === undefined) throw refused('litellm_call_id', 'is required: use LiteLLM 1.106 or later');
  const said = hookSettings.safeParse(Object.fromEntries(settings), { error: issueMessage });
  if (!said.success) {
    throw invalidRequest(toErrorDetails(said.error.issues, ['additional_provider_specific_params']), 1);
  }
  const requestId = callRequestId(callId);
  const record = emptyRecord('callback', { scope: { name: '' }, resource: new Map(), attributes });
  const facts = factsOf(record, createSpanTree(), table);
  const origin = originOf(record, facts, { receivedMs, agent, callId: requestId });
  return {
    ...origin,
    requestId,
    model: origin.model ?? ifValid(modelName, model) ?? null,
    inputBytes,
    settings: said.data,
  };
}

function refused(path: string, message: string) {
  return invalidRequest(toErrorDetails([{ code: 'custom', path: [path], message, input: undefined }]), 1);
}
