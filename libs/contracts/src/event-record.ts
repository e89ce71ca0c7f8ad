import { IDENTIFIER, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { identifier } from './api/primitives.ts';
import {
  budgetBlockedData,
  budgetThresholdReachedData,
  callFailedData,
  callUnmeteredData,
  guardBlockedData,
  type KnownEventType,
  otherData,
  otherEventSchema,
  type OwnEventType,
  priceMissingData,
} from './event-schemas.ts';
import type { GatewayEvent } from './events.ts';
import { raiseRequestedData } from './raise-requested.ts';
import { spendRepricedData } from './spend-repriced.ts';
import { spendSettledData, tokenKinds } from './spend-settled.ts';
import { formatPath } from './validation.ts';

/**
 * The topic of all accepted events. The key is the tenant id; `encodeGatewayEvent` writes the value. Events of a
 * workspace keep the order of acceptance, which is not the order of their `time`. An event may be in the log more than
 * once; consumers count it once by tenant, source and id.
 */
export const GATEWAY_EVENTS_TOPIC = 'gateway.events';

/**
 * Whichever service comes first creates the topic. Six partitions let up to six replicas of a consumer share the work.
 * A consumer may be down for the retention of a week without losing anything.
 */
export const GATEWAY_EVENTS_TOPIC_OPTIONS = { name: GATEWAY_EVENTS_TOPIC, partitions: 6, retentionMs: 7 * 86_400_000 };

/** An accepted event, with the fields added at acceptance. */
export interface GatewayEventRecord {
  tenantId: TenantId;
  /** RFC 3339 UTC with milliseconds. */
  receivedAt: string;
  /** Id of the workspace key that reported the call; absent if no key did. */
  keyId?: string | undefined;
  /** The labels in its data are all labels of the call, also those of its agent and its key. */
  event: GatewayEvent;
}

/** Returns a record for `append` of a log. Its value begins with the event's type, for `peekEventType`. */
export function encodeGatewayEvent({ tenantId, receivedAt, keyId, event }: GatewayEventRecord): {
  key: string;
  value: Buffer;
} {
  const { type, ...others } = event;
  const acceptance = { tenant_id: tenantId, received_at: receivedAt, key_id: keyId };
  const value = JSON.stringify({ v: 1, event: { type, ...others }, ...acceptance });
  return { key: tenantId, value: Buffer.from(value) };
}

const utcTimestamp = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

// A newer producer may add fields, so unlike at ingestion, they are ignored.
function recordOf<T extends z.ZodType<string>, D extends z.ZodType>(type: T, data: D) {
  const event = z.object({
    specversion: z.literal('1.0'),
    id: identifier,
    source: otherEventSchema.shape.source,
    type,
    time: utcTimestamp,
    data,
  });
  const acceptance = {
    tenant_id: z.string().regex(IDENTIFIER),
    received_at: utcTimestamp,
    key_id: identifier.optional(),
  };
  return z.object({ v: z.literal(1), ...acceptance, event });
}

/** The labels of a call from all sources, each of which was checked when it was accepted. */
const labels = z.record(z.string(), z.string()).optional();

/** The schemas of the values in the topic, by event type; `other` is any type not listed. */
export const gatewayEventRecords = {
  'spend.settled': recordOf(z.literal('spend.settled'), z.object({ ...spendSettledData.shape, labels })),
  'budget.blocked': recordOf(z.literal('budget.blocked'), z.object({ ...budgetBlockedData.shape, labels })),
  'guard.blocked': recordOf(z.literal('guard.blocked'), z.object({ ...guardBlockedData.shape, labels })),
  'budget.threshold_reached': recordOf(
    z.literal('budget.threshold_reached'),
    z.object(budgetThresholdReachedData.shape),
  ),
  'call.unmetered': recordOf(z.literal('call.unmetered'), z.object({ ...callUnmeteredData.shape, labels })),
  'call.failed': recordOf(z.literal('call.failed'), z.object(callFailedData.shape)),
  'price.missing': recordOf(z.literal('price.missing'), z.object(priceMissingData.shape)),
  'spend.repriced': recordOf(z.literal('spend.repriced'), spendRepricedData),
  'raise.requested': recordOf(z.literal('raise.requested'), raiseRequestedData),
  other: recordOf(z.string().min(1), otherData),
} satisfies Record<KnownEventType | OwnEventType | 'other', z.ZodType>;

/** The reader's schemas: a newer producer may have further scopes, kinds of tokens, flags and so on. */
export const readEventRecords = {
  ...gatewayEventRecords,
  'spend.settled': recordOf(
    z.literal('spend.settled'),
    z.object({
      ...spendSettledData.shape,
      labels,
      tokens: z.object(tokenKinds.shape).optional(),
      priced_by: z.string().optional(),
      flags: z.array(z.string()).optional(),
    }),
  ),
  'call.unmetered': recordOf(
    z.literal('call.unmetered'),
    z.object({ ...callUnmeteredData.shape, labels, reason: z.string() }),
  ),
  'budget.blocked': recordOf(
    z.literal('budget.blocked'),
    z.object({ ...budgetBlockedData.shape, labels, scope: z.string(), code: z.string().optional() }),
  ),
  'budget.threshold_reached': recordOf(
    z.literal('budget.threshold_reached'),
    z.object({ ...budgetThresholdReachedData.shape, scope: z.string() }),
  ),
};

/**
 * Reads the value of a record of `gateway.events`. Throws an Error with the reason if the value is invalid: such a
 * record belongs in the dead letters. The message names fields and never quotes their values.
 */
export function decodeGatewayEvent(value: Buffer): GatewayEventRecord {
  const input = parseJson(value);
  const result = schemaOf(input).safeParse(input);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${formatPath(issue.path)}: ${issue.message}`);
    throw new Error(`The record can't be read: ${problems.slice(0, 5).join('; ')}`);
  }
  const { tenant_id, received_at, key_id, event } = result.data;
  return { tenantId: provenTenantId(tenant_id), receivedAt: received_at, keyId: key_id, event };
}

/** The beginning of every value from `encodeGatewayEvent`. */
const BEGINNING = Buffer.from('{"v":1,"event":{"type":"');
const QUOTE = 0x22;

/**
 * The type of a record's event, without any check and far cheaper than parsing the record: enough to skip events that a
 * reader does not need. Null if `encodeGatewayEvent` did not write the value: then use `decodeGatewayEvent`.
 */
export function peekEventType(value: Buffer): string | null {
  for (let index = 0; index < BEGINNING.length; index += 1) if (value[index] !== BEGINNING[index]) return null;
  const end = value.indexOf(QUOTE, BEGINNING.length);
  const type = end === -1 ? '' : value.toString('latin1', BEGINNING.length, end);
  return type === '' || type.includes('\\') ? null : type;
}

type Json = { event?: { type?: unknown } | null } | null;

function schemaOf(input: Json) {
  const type = input?.event?.type;
  const known = typeof type === 'string' && Object.hasOwn(readEventRecords, type);
  return readEventRecords[known ? (type as KnownEventType | OwnEventType) : 'other'];
}

function parseJson(value: Buffer): Json {
  try {
    return JSON.parse(value.toString()) as Json;
  } catch {
    throw new Error('The record is not JSON');
  }
}
