import { z } from 'zod';
import {
  type budgetBlockedData,
  type budgetThresholdReachedData,
  type callFailedData,
  type callUnmeteredData,
  type guardBlockedData,
  type KnownEventType,
  knownEventSchemas,
  type otherData,
  otherEventSchema,
  type priceMissingData,
} from './event-schemas.ts';
import { findJsonProblem } from './json-limits.ts';
import type { RequestedRaise } from './raise-requested.ts';
import type { spendRepricedData } from './spend-repriced.ts';
import type { spendSettledData } from './spend-settled.ts';
import { issueMessage, norAre } from './validation.ts';

/** Maximum number of events in one batch. */
export const MAX_EVENTS_PER_BATCH = 1000;
/** How far ahead of the clock the `time` of an event may be, as checked by ingestion. */
export const MAX_EVENT_TIME_AHEAD_MS = 5 * 60 * 1000;
/** Maximum size of an event's `data` in bytes, as JSON without white space, in UTF-8. */
export const MAX_EVENT_DATA_BYTES = 64 * 1024;
/** Maximum number of an event's extension attributes, and their total bytes, counted like those of `data`. */
export const MAX_EXTENSIONS = 64;
export const MAX_EXTENSIONS_BYTES = 8 * 1024;

/**
 * An event as Tollkeeper stores it, with the attributes of CloudEvents 1.0 that Tollkeeper uses. `time` is UTC with
 * milliseconds. Unique in its workspace by `source` and `id`.
 */
interface EventOf<Type extends string, Data> {
  specversion: '1.0';
  id: string;
  source: string;
  type: Type;
  time: string;
  data: Data;
}

export type SpendSettledEvent = EventOf<'spend.settled', z.infer<typeof spendSettledData>>;
export type SpendRepricedEvent = EventOf<'spend.repriced', z.infer<typeof spendRepricedData>>;
export type BudgetBlockedEvent = EventOf<'budget.blocked', z.infer<typeof budgetBlockedData>>;
export type GuardBlockedEvent = EventOf<'guard.blocked', z.infer<typeof guardBlockedData>>;
export type BudgetThresholdReachedEvent = EventOf<
  'budget.threshold_reached',
  Omit<z.infer<typeof budgetThresholdReachedData>, 'scope'> & {
    scope: string;
    run_id?: undefined;
    agent_id?: undefined;
  }
>;
export type CallUnmeteredEvent = EventOf<'call.unmetered', z.infer<typeof callUnmeteredData>>;
export type CallFailedEvent = EventOf<'call.failed', z.infer<typeof callFailedData>>;
export type PriceMissingEvent = EventOf<
  'price.missing',
  z.infer<typeof priceMissingData> & { run_id?: undefined; agent_id?: undefined }
>;
export type RaiseRequestedEvent = EventOf<
  'raise.requested',
  RequestedRaise & { run_id?: undefined; agent_id?: undefined }
>;
/** An event of a type that only alert rules count, with the parts of its data that are read. */
export type OtherEvent = EventOf<string, { run_id?: string | undefined; agent_id?: string | undefined }>;
export type GatewayEvent =
  | SpendSettledEvent
  | SpendRepricedEvent
  | BudgetBlockedEvent
  | GuardBlockedEvent
  | BudgetThresholdReachedEvent
  | CallUnmeteredEvent
  | CallFailedEvent
  | PriceMissingEvent
  | RaiseRequestedEvent
  | OtherEvent;

export function isSpendSettled(event: GatewayEvent): event is SpendSettledEvent {
  return event.type === 'spend.settled';
}

export function isSpendRepriced(event: GatewayEvent): event is SpendRepricedEvent {
  return event.type === 'spend.repriced';
}

export function isCallFailed(event: GatewayEvent): event is CallFailedEvent {
  return event.type === 'call.failed';
}

export function isThresholdReached(event: GatewayEvent): event is BudgetThresholdReachedEvent {
  return event.type === 'budget.threshold_reached';
}

type DataOf<Type extends KnownEventType> = z.infer<(typeof knownEventSchemas)[Type]>['data'];
/** The types whose events can report several calls. */
type CountingType = { [Type in KnownEventType]: 'count' extends keyof DataOf<Type> ? Type : never }[KnownEventType];
const COUNTING: Record<CountingType, true> = { 'budget.blocked': true };

/** The types whose events report calls, which have labels. */
type CallType = { [Type in KnownEventType]: 'labels' extends keyof DataOf<Type> ? Type : never }[KnownEventType];
const CALLS: Record<CallType, true> = {
  'spend.settled': true,
  'budget.blocked': true,
  'guard.blocked': true,
  'call.unmetered': true,
};
type CallEvent = SpendSettledEvent | BudgetBlockedEvent | GuardBlockedEvent | CallUnmeteredEvent;

export function isRaiseRequested(event: GatewayEvent): event is RaiseRequestedEvent {
  return event.type === 'raise.requested';
}

/** Whether the event reports a call, or several. */
export function isCall(event: GatewayEvent): event is CallEvent {
  return isCallType(event.type);
}

/** Whether events of the type report calls. */
export function isCallType(type: string): boolean {
  return Object.hasOwn(CALLS, type);
}

/** How many calls the event reports: a `budget.blocked` may report several. */
export function countOf(event: GatewayEvent): number {
  return isCounting(event) ? (event.data.count ?? 1) : 1;
}

function isCounting(event: GatewayEvent): event is EventOf<CountingType, DataOf<CountingType>> {
  return Object.hasOwn(COUNTING, event.type);
}

const ATTRIBUTES = new Set(Object.keys(otherEventSchema.shape));
const EXTENSION_NAME = /^[a-z0-9]{1,64}$/;

type Issues = z.core.$ZodRawIssue[];

/**
 * Reads one CloudEvents 1.0 event in JSON (`application/cloudevents+json`).
 *
 * Extension attributes, whose names are lowercase letters and digits, are accepted and dropped. So are `subject`,
 * `dataschema` and `datacontenttype`, and unused fields in the data of other types: Tollkeeper does not interpret them.
 * So a stored event stays small, whatever its sender adds. Other unknown names, and unknown fields in the data of known
 * types, are problems, so that typing errors are never silently ignored.
 */
export const gatewayEventSchema = z
  .unknown()
  .transform((input, ctx): GatewayEvent => readEvent(input, ctx.issues) ?? z.NEVER)
  .meta({
    description: 'A CloudEvents 1.0 event in JSON; extension attributes are taken and ignored',
    override: toOpenApi(z.union([...Object.values(knownEventSchemas), otherEventSchema])),
  });

const BATCH_SIZE = `must be an array of 1 to ${MAX_EVENTS_PER_BATCH} events`;

/**
 * A batch of 1 to 1000 ordered events (`application/cloudevents-batch+json`). `event` is `gatewayEventSchema`, possibly
 * with further checks. The paths of problems begin with the index of the event: `[3].data.run_id`.
 */
export function gatewayEventBatchOf(event: z.ZodType<GatewayEvent>) {
  return z.array(event, BATCH_SIZE).min(1, BATCH_SIZE).max(MAX_EVENTS_PER_BATCH, { error: BATCH_SIZE, abort: true });
}

function readEvent(input: unknown, issues: Issues): GatewayEvent | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    issues.push({ code: 'custom', input, message: 'must be an object: one CloudEvents 1.0 event' });
    return null;
  }
  const schema = schemaOf('type' in input ? input.type : undefined);
  const result = schema.safeParse(input, { error: issueMessage });
  if (!result.success) issues.push(...result.error.issues.map((issue) => ({ ...issue, input }) as z.core.$ZodRawIssue));
  checkExtensions(input, issues);
  if (schema === otherEventSchema && 'data' in input) checkOtherData(input.data, issues);
  if (!result.success || issues.length > 0) return null;

  const { specversion, id, source, type, time, data } = result.data;
  return { specversion, id, source, type, time, data: keptOf(schema, data) } as GatewayEvent;
}

function keptOf(schema: ReturnType<typeof schemaOf>, data: z.infer<typeof schema>['data']): object {
  if (schema !== otherEventSchema) return data;
  const { run_id, agent_id } = data as z.infer<typeof otherData>;
  return { ...(run_id !== undefined && { run_id }), ...(agent_id !== undefined && { agent_id }) };
}

function checkExtensions(input: object, issues: Issues): void {
  const added = Object.entries(input).filter(([name]) => !ATTRIBUTES.has(name));
  if (added.length === 0) return;
  const [unknown, ...others] = added.map(([name]) => name).filter((name) => !EXTENSION_NAME.test(name));
  if (unknown !== undefined) {
    const message = `is not a CloudEvents 1.0 attribute${norAre(others)}`;
    issues.push({ code: 'custom', input, path: [unknown], message });
    return;
  }
  const path = [added[0]![0]];
  if (added.length > MAX_EXTENSIONS) {
    const message = `is one of ${added.length} extension attributes; an event has at most ${MAX_EXTENSIONS}`;
    issues.push({ code: 'custom', input, path, message });
    return;
  }
  for (const [name, value] of added) {
    const problem = findJsonProblem(value);
    if (problem === null) continue;
    issues.push({ code: 'custom', input, path: [name, ...problem.path], message: problem.message });
    return;
  }
  if (jsonBytesOf(Object.fromEntries(added)) > MAX_EXTENSIONS_BYTES) {
    const message = `is one of the extension attributes, which must be at most ${MAX_EXTENSIONS_BYTES} bytes of JSON together`;
    issues.push({ code: 'custom', input, path, message });
  }
}

function schemaOf(type: unknown): (typeof knownEventSchemas)[KnownEventType] | typeof otherEventSchema {
  const known = typeof type === 'string' && Object.hasOwn(knownEventSchemas, type);
  return known ? knownEventSchemas[type as KnownEventType] : otherEventSchema;
}

/** Checks that a schema cannot express, for data of unknown types, whose fields the sender defines. */
function checkOtherData(input: unknown, issues: Issues): void {
  const problem = findJsonProblem(input);
  if (problem !== null) {
    issues.push({ code: 'custom', input, path: ['data', ...problem.path], message: problem.message });
  } else if (jsonBytesOf(input) > MAX_EVENT_DATA_BYTES) {
    const message = `must be at most ${MAX_EVENT_DATA_BYTES} bytes of JSON`;
    issues.push({ code: 'custom', input, path: ['data'], message });
  }
}

function jsonBytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The JSON Schema of a transform's input: its own schema accepts anything, so it says nothing. */
function toOpenApi(schema: z.ZodType): object {
  const jsonSchema = z.toJSONSchema(schema, { io: 'input' });
  delete jsonSchema.$schema;
  return jsonSchema;
}
