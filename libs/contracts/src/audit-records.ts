import { IDENTIFIER, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { moment } from './api/primitives.ts';
import { AUDIT_LIMITS, type AuditChange, type AuditValue } from './audit-changes.ts';
import { readRecord } from './record-reader.ts';

/**
 * The topic of what people changed, written by every service that they change something in and read by audit: key is
 * the tenant, so the records of a workspace keep their order; value what `encodeAuditRecord` writes. At least once:
 * readers keep one for each `id`.
 */
export const AUDIT_TOPIC = 'audit.records';

/** A month: services forget a record once the log has it, so this is how long audit may be down without a loss. */
export const AUDIT_TOPIC_OPTIONS = { name: AUDIT_TOPIC, partitions: 6, retentionMs: 30 * 86_400_000 };

/** What can be done to what. The part before the last dot is what it is done to. */
export const AUDIT_ACTIONS = [
  'budget.workspace.set',
  'budget.agent.set',
  'plan.create',
  'plan.update',
  'plan.delete',
  'key.create',
  'key.revoke',
  'rule.create',
  'rule.update',
  'rule.delete',
  'channel.create',
  'channel.update',
  'channel.delete',
  'channel.disable',
  'channel.test',
  'alert.acknowledge',
  'alert.resolve',
  'reservation.release',
  'session.create',
  'session.refuse',
  'session.delete',
  'user.password.change',
  'user.password.link',
  'user.password.reset',
  'user.provider.link',
  'workspace.create',
  'workspace.update',
  'member.add',
  'member.role.change',
  'member.remove',
  'member.leave',
  'invitation.create',
  'invitation.delete',
  'invitation.accept',
  'agent.create',
  'agent.update',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const ACTOR_TYPES = ['user', 'key', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Who did something. `name` is what people called them then. */
export interface AuditActor {
  type: ActorType;
  id: string;
  name: string;
}

/** What something was done to. `name` is what people called it then. */
export interface AuditTarget {
  type: string;
  id: string;
  name: string;
}

/** Who asks for a change, what for, and by which request: all that a record says beside what changed. */
export interface Cause {
  action: AuditAction;
  actor: AuditActor;
  /** The client's network address. Null where there was no request, as in all of these. */
  address: string | null;
  /** As the client says. */
  userAgent: string | null;
  requestId: string | null;
}

/** Changes by Tollkeeper itself, as `component`. */
export function systemCause(action: AuditAction, component: string): Cause {
  const actor = { type: 'system', id: component, name: `Tollkeeper (${component})` } as const;
  return { action, actor, address: null, userAgent: null, requestId: null };
}

/** A record of a workspace. */
export interface AuditRecord extends Omit<Cause, 'action'> {
  id: string;
  tenantId: TenantId;
  /** RFC 3339 UTC: the time of the change, by the clock of the service that made it. */
  occurredAt: string;
  action: AuditAction;
  target: AuditTarget;
  changes: AuditChange[];
}

/** A record as its reader has it: what it only keeps and shows is any text. */
export interface ReadAuditRecord extends Omit<AuditRecord, 'action' | 'actor'> {
  action: string;
  actor: Omit<AuditActor, 'type'> & { type: string };
}

const id = z.string().regex(IDENTIFIER);
const text = (max: number) => z.string().max(max);
const item = z.union([text(AUDIT_LIMITS.item), z.number()]);
export const auditValue = z.union([
  text(AUDIT_LIMITS.text),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(item).max(AUDIT_LIMITS.items),
]);
const NAME = 160;
const ADDRESS = 64;
const USER_AGENT = 256;

// A producer that is newer than its readers may add fields; they are let by.
export const auditRecordSchema = z.object({
  v: z.literal(1),
  record_id: id,
  tenant_id: id,
  occurred_at: moment,
  actor: z.object({ type: z.enum(ACTOR_TYPES), id: text(128), name: text(NAME) }),
  action: z.enum(AUDIT_ACTIONS),
  target: z.object({ type: text(64), id: text(128), name: text(NAME) }),
  changes: z
    .array(z.object({ field: text(AUDIT_LIMITS.field), from: auditValue, to: auditValue }))
    .max(AUDIT_LIMITS.changes),
  address: text(ADDRESS).nullable(),
  user_agent: text(USER_AGENT).nullable(),
  request_id: text(128).nullable(),
});

const { shape } = auditRecordSchema;

/** What a reader takes: actions and kinds of actors that it has never heard of are kept and shown as they are. */
export const readAuditRecordSchema = auditRecordSchema.extend({
  actor: shape.actor.extend({ type: text(64) }),
  action: text(64),
});

/** A record of now for what `cause` did to `target`. */
export function auditRecordOf(
  tenantId: TenantId,
  cause: Cause,
  what: { target: AuditTarget; changes: AuditChange[] },
  now: number,
): AuditRecord {
  return { id: newId('aud'), tenantId, occurredAt: new Date(now).toISOString(), ...cause, ...what };
}

/** A record for the topic, as a log's `append` takes it. Whatever is longer than a record may have is cut. */
export function encodeAuditRecord(record: AuditRecord): { key: string; value: Buffer } {
  const { actor, target, changes } = record;
  const body: z.input<typeof auditRecordSchema> = {
    v: 1,
    record_id: record.id,
    tenant_id: record.tenantId,
    occurred_at: record.occurredAt,
    actor: { type: actor.type, id: cut(actor.id, 128), name: cut(actor.name, NAME) },
    action: record.action,
    target: { type: cut(target.type, 64), id: cut(target.id, 128), name: cut(target.name, NAME) },
    changes: cutChanges(changes),
    address: record.address && cut(record.address, ADDRESS),
    user_agent: record.userAgent && cut(record.userAgent, USER_AGENT),
    request_id: record.requestId && cut(record.requestId, 128),
  };
  return { key: record.tenantId, value: Buffer.from(JSON.stringify(body)) };
}

/** Reads the value of a record of `audit.records`. Throws as `decodeNotification` does. */
export function decodeAuditRecord(value: Buffer): ReadAuditRecord {
  const record = readRecord(readAuditRecordSchema, value, wellFormed);
  return {
    id: record.record_id,
    tenantId: provenTenantId(record.tenant_id),
    occurredAt: record.occurred_at,
    actor: record.actor,
    action: record.action,
    target: record.target,
    changes: record.changes,
    address: record.address,
    userAgent: record.user_agent,
    requestId: record.request_id,
  };
}

/** A store keeps text as UTF-8, where half of a character would become another one. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function cutChanges(changes: readonly AuditChange[]): z.input<typeof auditRecordSchema>['changes'] {
  let bytes = 0;
  return changes
    .slice(0, AUDIT_LIMITS.changes)
    .map(({ field, from, to }) => ({ field: cut(field, AUDIT_LIMITS.field), from: cutValue(from), to: cutValue(to) }))
    .filter((change) => (bytes += Buffer.byteLength(JSON.stringify(change))) <= AUDIT_LIMITS.changesBytes);
}

function cutValue(value: AuditValue): z.input<typeof auditValue> {
  if (typeof value === 'string') return cut(value, AUDIT_LIMITS.text);
  if (value === null || typeof value !== 'object') return value;
  return value
    .slice(0, AUDIT_LIMITS.items)
    .map((each) => (typeof each === 'string' ? cut(each, AUDIT_LIMITS.item) : each));
}

/** At most `max` characters, the last of them an ellipsis if some are left out; never half of a character. */
function cut(value: string, max: number): string {
  const whole = value.toWellFormed();
  return whole.length <= max ? whole : `${whole.slice(0, max - 1)}…`.toWellFormed();
}
