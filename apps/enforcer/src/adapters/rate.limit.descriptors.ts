import {
  callRequestId,
  type DescriptorMessage,
  identifier,
  invalidRequest,
  issueMessage,
  labels,
  micros,
  modelName,
  planKey,
  providerName,
  type RateLimitRequestMessage,
  toErrorDetails,
} from '@tollkeeper/contracts';
import { MAX_MICROS } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { CallUsage, EndedCall } from './call.end.ts';
import { ERROR_FORMATS } from './proxy.answer.ts';

/** What a descriptor asks, or reports. `call` asks without hits, and reports with them. */
const VERBS = ['reserve', 'check', 'call', 'settle', 'done'] as const;

/** What hits count, and the metadata of an access log. */
export const UNITS = {
  micros: 'micros',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  cached_tokens: 'cachedTokens',
  cache_write_tokens: 'cacheWriteTokens',
  // The dearest, since it is not known which of them they are.
  tokens: 'outputTokens',
} as const satisfies Record<string, keyof CallUsage>;

const count = z
  .string()
  .regex(/^\d{1,12}$/, 'must be a whole number')
  .transform(Number);
// What a caller or a model says in a body is no fault of the settings, so what does not fit is ignored.
const countInBody = count.optional().catch(undefined);
const callId = z.string().min(1, 'must not be empty').max(512, 'must be at most 512 characters');
const known = {
  tollkeeper: z.enum(VERBS),
  agent: identifier,
  run: identifier.optional(),
  plan: planKey.optional(),
  model: modelName.optional().catch(undefined),
  provider: providerName.optional(),
  max_tokens: countInBody,
  bytes: countInBody,
  unit: z.enum(Object.keys(UNITS) as (keyof typeof UNITS)[]).default('micros'),
  response: z.string().optional(),
  format: z.enum(ERROR_FORMATS).default('openai'),
};
const ofEntries = { ...known, call: callId.optional() };
const ENTRIES: ReadonlySet<string> = new Set(Object.keys(ofEntries));
const descriptor = z.object({ ...ofEntries, labels, hits_addend: micros.optional() });

/** A descriptor of a request, validated. */
export type Descriptor = ReturnType<typeof readDescriptor>;

const LABEL = 'label.';

function readDescriptor({ entries, hitsAddend }: DescriptorMessage, index: number, defaultHits: number) {
  const path = ['descriptors', index];
  const values = newRecord();
  const ofLabels = newRecord();
  for (const { key, value } of entries) {
    const isKnown = ENTRIES.has(key);
    const into = isKnown ? values : ofLabels;
    const name = !isKnown && key.startsWith(LABEL) ? key.slice(LABEL.length) : key;
    if (name in into) throw refused([...path, key], 'is in the descriptor twice');
    into[name] = value;
  }
  // 0 in the request itself means that Envoy sends none.
  const hits = hitsAddend?.value ?? (defaultHits > 0 ? defaultHits : undefined);
  const result = descriptor.safeParse({ ...values, labels: ofLabels, hits_addend: hits }, { error: issueMessage });
  // Envoy logs the sentence alone, so it names the first problem.
  if (!result.success) throw invalidRequest(toErrorDetails(result.error.issues.slice(0, 1), path), 1);
  const { tollkeeper: verb, call, unit, hits_addend: addend, ...facts } = result.data;
  if (call === undefined && verb !== 'check') throw refused([...path, 'call'], 'is required');
  // A model may also have a name that is too long for us.
  const namesModel = (values['model'] ?? '') !== '';
  return { ...facts, verb, call, unit, hits: addend, path, namesModel };
}

/** Without a prototype, so that any name may be in it. */
function newRecord(): Record<string, string> {
  return Object.create(null) as Record<string, string>;
}

function refused(path: PropertyKey[], message: string) {
  return invalidRequest(toErrorDetails([{ code: 'custom', path, message, input: undefined }]), 1);
}

/** Throws `invalid_request` that names the first entry that is wrong. */
export function readDescriptors({ descriptors, hitsAddend }: RateLimitRequestMessage): Descriptor[] {
  return descriptors.map((message, index) => readDescriptor(message, index, hitsAddend));
}

const ASKS: Record<(typeof VERBS)[number], (hits: number) => boolean> = {
  reserve: () => true,
  check: () => true,
  call: (hits) => hits === 0,
  settle: () => false,
  done: () => false,
};

/** Whether the descriptor asks, and does not only report. */
export function asks({ verb, hits = 0 }: Descriptor): boolean {
  return ASKS[verb](hits);
}

/** The same for a descriptor that may be anything. */
export function asksIn({ entries, hitsAddend }: DescriptorMessage, request: RateLimitRequestMessage): boolean {
  const said = entries.find(({ key }) => key === 'tollkeeper')?.value;
  const verb = VERBS.find((one) => one === said);
  return verb === undefined || ASKS[verb](hitsAddend?.value ?? request.hitsAddend);
}

/** The call of a descriptor. Without a run, each call is one. */
export function callOf({ call, agent, run, plan, model, provider, labels: ofCall }: Descriptor, newId: () => string) {
  const requestId = callRequestId(call ?? newId());
  return {
    requestId,
    agentId: agent,
    runId: run ?? requestId,
    planKey: plan ?? null,
    model: model ?? null,
    provider: provider ?? null,
    labels: ofCall,
  };
}

/** The calls that the descriptors report, each once. `settle` without hits says nothing: a later one can have them. */
export function endedCalls(descriptors: readonly Descriptor[], newId: () => string): EndedCall[] {
  const reports = Map.groupBy(
    descriptors.filter((one) => !asks(one)),
    ({ call }) => call,
  );
  return [...reports.values()].flatMap((ofCall) => {
    const used = ofCall.filter(({ hits = 0 }) => hits > 0);
    const done = ofCall.find(({ verb }) => verb === 'done');
    const [first = done] = used;
    if (first === undefined) return [];
    const said = <K extends 'model' | 'provider' | 'response'>(key: K) => ofCall.find((one) => one[key])?.[key];
    const call = callOf({ ...first, model: said('model'), provider: said('provider') }, newId);
    const isAnswered = ofCall.some(({ namesModel }) => namesModel);
    return [{ ...call, responseId: said('response'), isAnswered, usage: usageOf(used) }];
  });
}

function usageOf(used: readonly Descriptor[]): CallUsage {
  const usage: CallUsage = {};
  let total = 0;
  for (const { unit, hits = 0, path } of used) {
    total += hits;
    if (total > MAX_MICROS) {
      throw refused([...path, 'hits_addend'], `must be at most ${MAX_MICROS} together with the other hits of its call`);
    }
    usage[UNITS[unit]] = (usage[UNITS[unit]] ?? 0) + hits;
  }
  return usage;
}
