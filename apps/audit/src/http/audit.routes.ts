import { AUDIT_ACTIONS, auditValue, fromCursor, identifier, moment, timestamp, toCursor } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { Entry, ListPlace, RecordFilter, RecordReader } from '../domain/entry.ts';
import { createExports } from './exports.ts';

const hash = z.string().meta({ description: 'SHA-256 in hex' });
const recordSchema = z
  .object({
    id: z.string().meta({ example: 'aud_4fG0aZ8kQ2mN6pR1tV5x' }),
    occurred_at: moment,
    actor: z.object({
      type: z.string().meta({ description: '`user`, `key` or `system`', examples: ['user', 'key', 'system'] }),
      id: z.string(),
      name: z.string().meta({ description: 'Display name at that time' }),
    }),
    action: z.string().meta({ description: 'The action. New actions may be added', examples: [...AUDIT_ACTIONS] }),
    target: z
      .object({ type: z.string(), id: z.string(), name: z.string() })
      .meta({ description: 'The target of the action' }),
    changes: z
      .array(z.object({ field: z.string(), from: auditValue, to: auditValue }))
      .meta({ description: 'The changed fields. For a secret, `from` is null and `to` is "changed"' }),
    address: z.string().nullable().meta({ description: 'Network address of the client; null without a request' }),
    user_agent: z.string().nullable().meta({ description: 'As sent by the client' }),
    request_id: z.string().nullable(),
    sequence: z.int().meta({ description: 'Position in the chain of the workspace: 1, 2, 3 … without gaps' }),
    previous_hash: hash.nullable().meta({ description: 'The `hash` of the previous record; null for the first' }),
    hash: hash.meta({ description: 'SHA-256 in hex of the record and of `previous_hash`' }),
  })
  .meta({ id: 'AuditRecord' });
const recordPage = z.object({
  items: z.array(recordSchema).meta({ description: 'Newest first' }),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

const word = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9_.-]+$/, 'must be lower-case words with dots between, such as key.revoke');
const auditQuery = z.object({
  actor: identifier.optional().meta({ description: 'Only changes by the actor with this id' }),
  action: word.optional().meta({ description: 'Only this action', example: 'key.revoke' }),
  target_type: word.optional().meta({ description: 'Only changes to targets of this type', example: 'key' }),
  target_id: identifier.optional().meta({ description: 'Only changes to the target with this id' }),
  from: timestamp.optional().meta({ description: 'Records of this time or later' }),
  to: timestamp.optional().meta({ description: 'Records before this time' }),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
  format: z.enum(['json', 'ndjson']).default('json').meta({
    description: '`ndjson` streams all matching records, one JSON object per line; `limit` has no effect',
  }),
});

export function createAuditRoutes(records: RecordReader): Route[] {
  const streamLines = createExports(records);
  return [
    defineRoute({
      method: 'get',
      path: '/api/v1/audit',
      operationId: 'listAuditRecords',
      tag: 'Audit log',
      summary: 'List audit records, newest first',
      description:
        'Every change by a person and every login of the last 400 days. Each record has the hash of the previous record, which reveals altered or removed records. A change is listed within seconds.',
      access: 'owner',
      query: auditQuery,
      responses: {
        200: {
          description: 'A page, or with `format=ndjson` all records',
          schema: recordPage,
          streams: { 'application/x-ndjson': recordSchema },
        },
      },
      handler: async ({ caller, query }) => {
        const { limit, cursor, format } = query;
        const filter = toFilter(query);
        const after = cursor === undefined ? undefined : placeOf(cursor);
        if (format === 'ndjson') {
          const headers = {
            'content-type': 'application/x-ndjson; charset=utf-8',
            'content-disposition': 'attachment; filename="audit.ndjson"',
          };
          return { status: 200, headers, stream: streamLines(caller, filter, after, toBody) };
        }
        const { entries, next } = await records.list(caller.tenantId, filter, { limit, after });
        return {
          status: 200,
          body: { items: entries.map(toBody), next_cursor: next && toCursor(next.time, next.sequence) },
        };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/api/v1/audit/{record_id}',
      operationId: 'getAuditRecord',
      tag: 'Audit log',
      summary: 'Read a record',
      access: 'owner',
      params: z.object({ record_id: identifier.meta({ description: 'Id of the record' }) }),
      responses: { 200: { description: 'The record', schema: recordSchema } },
      handler: async ({ caller, params }) => {
        const entry = await records.find(caller.tenantId, params.record_id);
        if (entry === null) throw new AppError('not_found', 'This workspace has no audit record with that id.');
        return { status: 200, body: toBody(entry) };
      },
    }),
  ];
}

function toFilter(query: z.output<typeof auditQuery>): RecordFilter {
  const { actor, action, target_type, target_id, from, to } = query;
  return { actorId: actor, action, targetType: target_type, targetId: target_id, from: toTime(from), to: toTime(to) };
}

function toBody(entry: Entry): z.output<typeof recordSchema> {
  return {
    id: entry.id,
    occurred_at: entry.occurredAt,
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    changes: entry.changes.map(({ field, from, to }) => ({ field, from: toValue(from), to: toValue(to) })),
    address: entry.address,
    user_agent: entry.userAgent,
    request_id: entry.requestId,
    sequence: entry.sequence,
    previous_hash: entry.previous?.hash ?? null,
    hash: entry.hash,
  };
}

/** The types of the schema have mutable lists. */
function toValue(value: Entry['changes'][number]['from']): z.output<typeof auditValue> {
  return typeof value === 'object' && value !== null ? [...value] : value;
}

function placeOf(cursor: string): ListPlace {
  const [time, sequence] = fromCursor(cursor, /^\d{1,15}$/);
  return { time, sequence: Number(sequence) };
}

function toTime(utc: string | undefined): number | undefined {
  return utc === undefined ? undefined : Date.parse(utc);
}
