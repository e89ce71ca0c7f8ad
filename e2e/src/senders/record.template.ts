import { createHash } from 'node:crypto';
import type { CallShape, GeneratedCall } from './generated.call.ts';

/** What a recorded record says of its call: its values mark where those of other calls belong. */
export interface RecordedCall {
  /** The whole response id; undefined if the sender reports none. */
  responseId: string | undefined;
  agentId: string;
  runId: string;
  model: string;
  tokens: GeneratedCall['tokens'];
  /** The amount of the sender's cost; undefined if the sender reports none, or 0. */
  costMicros: number | undefined;
  shape: CallShape;
}

/** Renders the record of a call as its sender would have written it. */
export type RecordTemplate = (call: GeneratedCall) => string;

type Slots = Record<string, string>;

const DATE = /-\d{4}-\d{2}-\d{2}$/;
/** Names around the value of an attribute in OTLP. */
const AROUND_VALUE = /^(value|values|[a-zA-Z]+Value)$/;
const SLOT = /"⟪(\w+)⟫"|⟦(\w+)⟧/;
/** Amounts are rounded to micros. */
const SAME_COST_USD = 5e-7;

/**
 * A template of a recorded record, which may be a list of spans of a trace: values that are those of the recorded call
 * become slots, wherever the sender writes them. Ids of traces and spans are rendered in `idEncoding`.
 */
export function templateOf(record: unknown, recorded: RecordedCall, idEncoding: 'hex' | 'base64'): RecordTemplate {
  const ids = new Map<string, { slot: string; bytes: number }>();
  const text = JSON.stringify(markAll(record, '', (value, name) => markOf(value, name, recorded, ids)));
  const parts = text.split(SLOT);
  return (call) => {
    const slots = slotsOf(call, recorded);
    for (const { slot, bytes } of ids.values()) slots[slot] = idOf(`${call.serial}/${slot}`, bytes, idEncoding);
    let rendered = '';
    for (let index = 0; index < parts.length; index += 3) {
      const slot = parts[index + 1] ?? parts[index + 2];
      rendered += parts[index]! + (slot === undefined ? '' : slots[slot]!);
    }
    return rendered;
  };
}

/** The name of a model with a date if the recorded name has one. */
export function namedLike(recorded: string, model: string): string {
  return DATE.test(recorded) ? `${model}-2026-08-06` : model;
}

function markAll(node: unknown, name: string, mark: (value: string | number, name: string) => unknown): unknown {
  if (typeof node === 'string' || typeof node === 'number') return mark(node, name);
  if (Array.isArray(node)) return node.map((each) => markAll(each, name, mark));
  if (typeof node !== 'object' || node === null) return node;
  const attribute = 'key' in node && 'value' in node ? String(node.key) : undefined;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      const named = attribute ?? (AROUND_VALUE.test(key) ? name : key);
      return [key, attribute !== undefined && key === 'key' ? value : markAll(value, named, mark)];
    }),
  );
}

/** The value, or the slot that belongs in its place. */
function markOf(
  value: string | number,
  name: string,
  recorded: RecordedCall,
  ids: Map<string, { slot: string; bytes: number }>,
): unknown {
  if (value === '' || value === '0' || value === 0) return value;
  const asNumber = (slot: string) => (typeof value === 'number' ? `⟪${slot}⟫` : `⟦${slot}⟧`);
  if (name === 'traceId' || name === 'spanId' || name === 'parentSpanId') {
    const known = ids.get(String(value)) ?? { slot: `id${ids.size}`, bytes: name === 'traceId' ? 16 : 8 };
    ids.set(String(value), known);
    return `⟦${known.slot}⟧`;
  }
  if (name.endsWith('UnixNano')) return asNumber('nanos');
  if (name === 'event.timestamp') return '⟦iso⟧';
  if (['startTime', 'endTime', 'completionStartTime'].includes(name)) return asNumber('seconds');
  if (/cost/.test(name)) {
    if (recorded.costMicros === undefined) return value;
    if (name.endsWith('_micros')) return Number(value) === recorded.costMicros ? asNumber('costMicros') : value;
    return Math.abs(Number(value) - recorded.costMicros / 1e6) < SAME_COST_USD ? asNumber('cost') : value;
  }
  if (/tokens?|usage/i.test(name)) {
    const slot = tokenSlots(recorded).get(Number(value));
    if (slot !== undefined) return asNumber(slot);
  }
  return typeof value === 'string' ? markText(value, name, recorded) : value;
}

function markText(value: string, name: string, { responseId, agentId, runId, model, ...recorded }: RecordedCall) {
  if (value === responseId) return '⟦response⟧';
  if (/(call_id|x-request-id)$/.test(name)) return '⟦call⟧';
  if (value.replaceAll(' ', '-') === agentId) return '⟦agent⟧';
  if (value === runId) return '⟦run⟧';
  if (value === JSON.stringify(runId)) return '"⟦run⟧"';
  if (value === model) return '⟦model⟧';
  const base = model.replace(DATE, '');
  if (value === base) return '⟦base⟧';
  if (value.endsWith(`/${base}`)) return value.replace(base, '⟦base⟧');
  // Objects as texts, in JSON or as Python prints them.
  return value.replace(/((?:tokens|input|output|total)["']?: ?)(\d+)\b/g, (all, before: string, number: string) => {
    const slot = tokenSlots(recorded).get(Number(number));
    return slot === undefined ? all : `${before}⟦${slot}⟧`;
  });
}

/** Slots by the recorded number of tokens. Numbers of different kinds differ in all recorded calls. */
function tokenSlots({ tokens }: Pick<RecordedCall, 'tokens'>): ReadonlyMap<number, string> {
  return new Map(
    Object.entries(tokenSums(tokens))
      .filter(([, count]) => count > 0)
      .map(([slot, count]) => [count, slot] as const)
      // The first slot of a number wins.
      .toReversed(),
  );
}

function tokenSums({ input, cacheRead, cacheWrite, output, reasoning }: GeneratedCall['tokens']) {
  const allInput = input + cacheRead + cacheWrite;
  return { ...{ allInput, input, cacheRead, cacheWrite, output, reasoning }, all: allInput + output };
}

function slotsOf(call: GeneratedCall, { responseId, model }: RecordedCall): Slots {
  const { costNanos = 0 } = call;
  return {
    agent: call.agentId,
    run: call.runId,
    base: call.model,
    model: namedLike(model, call.model),
    call: `call-${call.serial}`,
    response: responseId === undefined ? '' : responseIdOf(call, responseId),
    nanos: `${call.timeMs}000000`,
    seconds: String(call.timeMs / 1_000),
    iso: new Date(call.timeMs).toISOString(),
    cost: String(costNanos / 1e9),
    costMicros: String(Math.floor((costNanos + 500) / 1_000)),
    ...Object.fromEntries(Object.entries(tokenSums(call.tokens)).map(([slot, count]) => [slot, String(count)])),
  };
}

/** With the prefix and the length of the recorded one. */
function responseIdOf({ serial }: GeneratedCall, recorded: string): string {
  const prefix = /^[a-z]+[-_]/.exec(recorded)?.[0] ?? '';
  return (
    prefix +
    createHash('sha256')
      .update(serial)
      .digest('hex')
      .repeat(8)
      .slice(0, recorded.length - prefix.length)
  );
}

function idOf(seed: string, bytes: number, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(seed).digest().subarray(0, bytes).toString(encoding);
}
