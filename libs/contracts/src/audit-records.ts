import { IDENTIFIER, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { moment } from './api/primitives.ts';
import { AUDIT_LIMITS, type AuditChange, type AuditValue } from './audit-changes.ts';
import { readRecord } from './record-reader.ts';

/**
 * The topic of changes by people, written by every service with such changes and read by audit. The key is the tenant,
 * so the records of a workspace keep their order. `encodeAuditRecord` writes the value. Delivery is at least once:
 * readers keep one record per `id`.
 */
export const AUDIT_TOPIC = 'audit.records';

/** A month: services delete a record once the log has it, so audit may be down this long without a loss. */
export const AUDIT_TOPIC_OPTIONS = { name: AUDIT_TOPIC, partitions: 6, retentionMs: 30 * 86_400_000 };

/** Audited actions. The part before the last dot is the type of the target. */
export const AUDIT_ACTIONS = [
  'budget.create',
  'budget.update',
  'budget.delete',
  'budget.workspace.set',
  'budget.agent.set',
  'plan.create',
  'plan.update',
  'plan.delete',
  'price.set',
  'pause.create',
  'pause.end',
  'raise.request',
  'raise.grant',
  'raise.decline',
  'raise.end',
  'repricing.create',
  'reconciliation.create',
  'export.update',
  'export.delete',
  'export.test',
  'export.send',
  'key.create',
  'key.update',
  'key.revoke',
  'rule.create',
  'rule.update',
  'rule.delete',
  'channel.create',
  'channel.update',
  'channel.delete',
  'channel.disable',
  'channel.test',
  'channel.ask',
  'channel.confirm',
  'channel.stop',
  'alert.acknowledge',
  'alert.resolve',
  'silence.create',
  'silence.update',
  'silence.end',
  'maintenance.create',
  'maintenance.update',
  'maintenance.delete',
  'reservation.release',
  'lease.return',
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
  'organisation.create',
  'organisation.delete',
  'organisation.workspace.add',
  'organisation.workspace.remove',
  'organisation.member.set',
  'organisation.member.remove',
  'agent.create',
  'agent.update',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const ACTOR_TYPES = ['user', 'key', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Who did something. `name` is the name at that time. */
export interface AuditActor {
  type: ActorType;
  id: string;
  name: string;
}

/** What something was done to. `name` is the name at that time. */
export interface AuditTarget {
  type: string;
  id: string;
  name: string;
}

/** Who makes a change, the action, and the request: everything in a record besides the change itself. */
export interface Cause {
  action: AuditAction;
  actor: AuditActor;
  /** The client's network address. Null without a request, like the fields below. */
  address: string | null;
  /** As sent by the client. */
  userAgent: string | null;
  requestId: string | null;
}

/** Changes by Tollkeeper itself, as `component`. */
export function systemCause(action: AuditAction, component: string): Cause {
  const actor = { type: 'system', id: component, name: `Tollkeeper (${component})` } as const;
  return { action, actor, address: null, userAgent: null, requestId: null };
}

export interface AuditRecord extends Omit<Cause, 'action'> {
  id: string;
  tenantId: TenantId;
  /** RFC 3339 UTC: the time of the change, by the clock of the service that made it. */
  occurredAt: string;
  action: AuditAction;
  target: AuditTarget;
  changes: AuditChange[];
}

/** A record as its reader sees it: fields that are only stored and displayed may be any text. */
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

// A newer producer may add fields, which are ignored.
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

/** The reader's schema: unknown actions and kinds of actors are stored and displayed as they are. */
export const readAuditRecordSchema = auditRecordSchema.extend({
  actor: shape.actor.extend({ type: text(64) }),
  action: text(64),
});

/** A record, with the current time, of what `cause` did to `target`. */
export function auditRecordOf(
  tenantId: TenantId,
  cause: Cause,
  what: { target: AuditTarget; changes: AuditChange[] },
  now: number,
): AuditRecord {
  return { id: newId('aud'), tenantId, occurredAt: new Date(now).toISOString(), ...cause, ...what };
}

/** Returns a record for `append` of a log. Values over the limits of a record are cut. */
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

/** Reads the value of a record of `audit.records`. Throws like `decodeNotification`. */
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

/** Replaces lone surrogates, which a store would change when it encodes text as UTF-8. */
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

/** At most `max` characters, the last one an ellipsis if text was cut; never splits a surrogate pair. */
function cut(value: string, max: number): string {
  const whole = value.toWellFormed();
  return whole.length <= max ? whole : `${whole.slice(0, max - 1)}…`.toWellFormed();
}
