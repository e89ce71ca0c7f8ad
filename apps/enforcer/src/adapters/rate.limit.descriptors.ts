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
import { z } from 'zod';
import type { CallUsage, EndedCall } from './call.end.ts';
import { ERROR_FORMATS } from './proxy.answer.ts';

/** What a descriptor asks, or reports. `call` asks without hits, and reports with them. */
const VERBS = ['reserve', 'check', 'call', 'settle', 'done'] as const;

/** What hits count. */
const UNITS = {
  micros: 'micros',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  cached_tokens: 'cachedTokens',
  // The dearest, since it is not known which of them they are.
  tokens: 'outputTokens',
} as const satisfies Record<string, keyof CallUsage>;

const count = z
  .string()
  .regex(/^\d{1,12}$/, 'must be a whole number')
  .transform(Number);
const callId = z.string().min(1, 'must not be empty').max(512, 'must be at most 512 characters');
const known = {
  tollkeeper: z.enum(VERBS),
  agent: identifier,
  run: identifier.optional(),
  plan: planKey.optional(),
  model: modelName.optional(),
  provider: providerName.optional(),
  max_tokens: count.optional(),
  bytes: count.optional(),
  unit: z.enum(Object.keys(UNITS) as (keyof typeof UNITS)[]).default('micros'),
  response: callId.optional(),
  format: z.enum(ERROR_FORMATS).default('openai'),
};
const descriptor = z.object({ ...known, call: callId.optional(), labels, hits_addend: micros.optional() });

/** A descriptor of a request, validated. */
export type Descriptor = ReturnType<typeof readDescriptor>;

const LABEL = 'label.';

function readDescriptor({ entries, hitsAddend }: DescriptorMessage, index: number, defaultHits: number) {
  const path = ['descriptors', index];
  const values = new Map<string, string>();
  const ofLabels = new Map<string, string>();
  for (const { key, value } of entries) {
    const isKnown = Object.hasOwn(descriptor.shape, key) && key !== 'labels' && key !== 'hits_addend';
    const [into, name] = isKnown ? [values, key] : [ofLabels, key.startsWith(LABEL) ? key.slice(LABEL.length) : key];
    if (into.has(name)) throw refused([...path, key], 'is in the descriptor twice');
    into.set(name, value);
  }
  // 0 in the request itself means that Envoy sends none.
  const hits = hitsAddend?.value ?? (defaultHits > 0 ? defaultHits : undefined);
  const given = { ...Object.fromEntries(values), labels: Object.fromEntries(ofLabels), hits_addend: hits };
  const result = descriptor.safeParse(given, { error: issueMessage });
  // Envoy logs the sentence alone, so it names the first problem.
  if (!result.success) throw invalidRequest(toErrorDetails(result.error.issues.slice(0, 1), path), 1);
  const { tollkeeper: verb, call, unit, hits_addend: addend, ...facts } = result.data;
  if (call === undefined && verb !== 'check') throw refused([...path, 'call'], 'is required');
  return { ...facts, verb, call, unit, hits: addend };
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
    const usage: CallUsage = {};
    for (const { unit, hits = 0 } of used) usage[UNITS[unit]] = (usage[UNITS[unit]] ?? 0) + hits;
    const responseId = ofCall.find(({ response }) => response !== undefined)?.response;
    return [{ ...callOf(first, newId), responseId, isAnswered: first.model !== undefined, usage }];
  });
}
