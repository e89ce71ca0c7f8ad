import { AppError, type ErrorDetail } from '@tollkeeper/kernel';
import type { z } from 'zod';
import {
  type budgetBlockedData,
  type guardBlockedData,
  type KnownEventType,
  knownEventSchemas,
  otherEventSchema,
  type spendSettledData,
} from './event-schemas.ts';
import { findJsonProblem } from './json-limits.ts';
import { formatPath, issueMessage, toErrorDetails } from './validation.ts';

/** Most events in one batch (decisions §7). */
export const MAX_EVENTS_PER_BATCH = 1000;
/** How far ahead of the clock the `time` of an event may be (decisions §7). Whoever takes events in checks it. */
export const MAX_EVENT_TIME_AHEAD_MS = 5 * 60 * 1000;
/** Most characters of JSON in `data`, so that every event fits in a record of the log. */
export const MAX_EVENT_DATA_LENGTH = 256 * 1024;

/**
 * An event as Tollkeeper keeps it: the attributes of CloudEvents 1.0 that it gives a meaning. `time` is UTC with
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
export type BudgetBlockedEvent = EventOf<'budget.blocked', z.infer<typeof budgetBlockedData>>;
export type GuardBlockedEvent = EventOf<'guard.blocked', z.infer<typeof guardBlockedData>>;
/** An event of a type that only alert rules count. */
export type OtherEvent = EventOf<string, { run_id?: string | undefined; agent_id?: string | undefined }>;
/** Narrow it with `isSpendSettled`, `isBudgetBlocked` and `isGuardBlocked`. */
export type GatewayEvent = SpendSettledEvent | BudgetBlockedEvent | GuardBlockedEvent | OtherEvent;

export function isSpendSettled(event: GatewayEvent): event is SpendSettledEvent {
  return event.type === 'spend.settled';
}

export function isBudgetBlocked(event: GatewayEvent): event is BudgetBlockedEvent {
  return event.type === 'budget.blocked';
}

export function isGuardBlocked(event: GatewayEvent): event is GuardBlockedEvent {
  return event.type === 'guard.blocked';
}

const ATTRIBUTES = new Set(Object.keys(otherEventSchema.shape));
const EXTENSION_NAME = /^[a-z0-9]{1,64}$/;

/**
 * Reads one CloudEvents 1.0 event in JSON (decisions §7).
 *
 * Extension attributes, which CloudEvents names with lowercase letters and digits, are taken and dropped, as are
 * `subject`, `dataschema` and `datacontenttype`: Tollkeeper gives none of them a meaning. Any other unknown name, and
 * unknown fields in the data of the three known types, are problems: a typing error is never silently ignored.
 *
 * `prefix` is the path of the event in the request and stands before every path in `details`.
 */
export function readGatewayEvent(
  input: unknown,
  prefix: readonly PropertyKey[] = [],
): { event: GatewayEvent } | { details: ErrorDetail[] } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { details: [{ path: formatPath(prefix), message: 'must be an object: one CloudEvents 1.0 event' }] };
  }
  const schema = schemaOf('type' in input ? input.type : undefined);
  const result = schema.safeParse(input, { error: issueMessage });
  const details = result.success ? [] : toErrorDetails(result.error.issues, prefix);
  for (const name of Object.keys(input)) {
    if (ATTRIBUTES.has(name) || EXTENSION_NAME.test(name)) continue;
    details.push({ path: formatPath([...prefix, name]), message: 'is not an attribute of CloudEvents 1.0' });
  }
  if (schema === otherEventSchema && 'data' in input)
    details.push(...otherDataProblems(input.data, [...prefix, 'data']));
  if (!result.success || details.length > 0) return { details };

  const { specversion, id, source, type, time, data } = result.data;
  return { event: { specversion, id, source, type, time, data } };
}

function schemaOf(type: unknown): (typeof knownEventSchemas)[KnownEventType] | typeof otherEventSchema {
  const known = typeof type === 'string' && Object.hasOwn(knownEventSchemas, type);
  return known ? knownEventSchemas[type as KnownEventType] : otherEventSchema;
}

/** What a schema can't say about the data of a type that is not known, whose fields are the sender's own. */
function otherDataProblems(data: unknown, path: readonly PropertyKey[]): ErrorDetail[] {
  const problem = findJsonProblem(data);
  if (problem !== null) return [{ path: formatPath([...path, ...problem.path]), message: problem.message }];
  if (JSON.stringify(data).length > MAX_EVENT_DATA_LENGTH) {
    return [{ path: formatPath(path), message: `must be at most ${MAX_EVENT_DATA_LENGTH} characters of JSON` }];
  }
  return [];
}

const MAX_DETAILS = 100;

/** One event, as `application/cloudevents+json` carries it. Throws `invalid_request` with all problems in `details`. */
export function parseGatewayEvent(input: unknown): GatewayEvent {
  const result = readGatewayEvent(input);
  if ('details' in result)
    throw new AppError('invalid_request', 'The event is not valid.', { details: result.details });
  return result.event;
}

/**
 * A batch of 1 to 1000 events, as `application/cloudevents-batch+json` carries it, in its order. One bad event
 * refuses the batch: throws `invalid_request`, whose `details` begin with the index of the event (`[3].data.run_id`).
 */
export function parseGatewayEvents(input: unknown): GatewayEvent[] {
  if (!Array.isArray(input) || input.length === 0 || input.length > MAX_EVENTS_PER_BATCH) {
    const message = `must be an array of 1 to ${MAX_EVENTS_PER_BATCH} events`;
    throw new AppError('invalid_request', `The batch ${message}.`, { details: [{ path: '', message }] });
  }
  const events: GatewayEvent[] = [];
  const details: ErrorDetail[] = [];
  for (const [index, item] of input.entries()) {
    const result = readGatewayEvent(item, [index]);
    if ('event' in result) events.push(result.event);
    else details.push(...result.details);
    if (details.length >= MAX_DETAILS) break;
  }
  if (details.length > 0) {
    const message = 'The batch holds events that are not valid; none of it was taken.';
    throw new AppError('invalid_request', message, { details: details.slice(0, MAX_DETAILS) });
  }
  return events;
}
