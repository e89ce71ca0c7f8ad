import { hash } from 'node:crypto';
import type {
  AlertStatus,
  AuditedFields,
  Cause,
  Labels,
  NotificationType,
  ReachedBudget,
  RequestedRaise,
  ScopeType,
  Severity,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Evidence } from './condition.ts';
import type { Decision } from './evaluator.ts';
import type { MutedBy } from './muted-by.ts';
import { channelsOf } from './rule.ts';
import type { RuleCondition } from './rule-kinds.ts';

/** One firing of a rule, with the rule as it was then. */
export interface Alert extends Evidence {
  id: string;
  tenantId: TenantId;
  ruleId: string;
  ruleRevision: number;
  ruleName: string;
  condition: RuleCondition;
  severity: Severity;
  scopeType: ScopeType;
  scopeId: string;
  eventTypes: string[];
  /** Patterns of labels, as in the rule; empty means any events. */
  labels: Labels;
  /** The budget threshold that the triggering event reported; null for events of other types. */
  budget: ReachedBudget | null;
  /** The request for a raise that the triggering event is; undefined for events of other types. */
  raise?: RequestedRaise | undefined;
  /** The channels to notify. */
  channelIds: string[];
  /** See `Rule`; undefined if each alert is its own message. */
  groupSeconds?: number | undefined;
  status: AlertStatus;
  /** Event time of the event that the rule fired with. All other times of an alert are clock times. */
  triggeredAt: number;
  acknowledgedAt: number | null;
  acknowledgedBy: string | null;
  resolvedAt: number | null;
  /** The condition is known to be met until then, epoch milliseconds. Afterwards the alert resolves automatically. */
  metUntil: number;
}

/** Waits for the end of a silence or maintenance window. */
export const HELD = 'held';
/** Waits to be sent in one message with other alerts of its rule. */
export const COLLECTED = 'collected';
/** Never sent, because the alert was resolved while the message was held back. */
export const DROPPED = 'dropped';

/** The delivery state of one notification of an alert. Times are epoch milliseconds. */
export interface Delivery {
  notificationId: string;
  type: NotificationType;
  alertId: string;
  channelId: string;
  /** The type as the notifier names it. */
  channelType: string;
  /** {@link HELD}, {@link COLLECTED}, {@link DROPPED}, or the status as the notifier reports it. */
  status: string;
  /** The silence or window that held the message back, also after it was sent. */
  held?: MutedBy;
  /** The message about several alerts that was sent: the state is that of this message. */
  group?: { messageId: string; alerts: number };
  attempts: number;
  responseStatus: number | null;
  responseSnippet: string | null;
  error: string | null;
  lastAttemptAt: number | null;
  nextAttemptAt: number | null;
}

/**
 * Makes the alert of a decision to fire. Its id is derived from rule, revision and event, so deciding again makes no
 * duplicate.
 */
export function toAlert({ rule, event, evidence, metUntil }: Decision): Alert {
  return {
    ...evidence,
    id: `alrt_${digest(rule.id, String(rule.revision), String(event.time), String(event.identity))}`,
    tenantId: rule.tenantId,
    ruleId: rule.id,
    ruleRevision: rule.revision,
    ruleName: rule.name,
    condition: rule.condition,
    severity: rule.severity,
    scopeType: rule.scopeType,
    scopeId: rule.scopeId,
    eventTypes: rule.eventTypes,
    labels: rule.labels,
    budget: event.budget ?? null,
    ...(event.raise && { raise: event.raise }),
    channelIds: channelsOf(rule, event.labels),
    ...(rule.groupSeconds > 0 && { groupSeconds: rule.groupSeconds }),
    status: 'firing',
    triggeredAt: event.time,
    acknowledgedAt: null,
    acknowledgedBy: null,
    resolvedAt: null,
    metUntil,
  };
}

/** The same id for every attempt to send this channel this type of notification about this alert. */
export function notificationIdOf(alertId: string, channelId: string, type: NotificationType): string {
  return `ntf_${digest(alertId, channelId, type)}`;
}

function digest(...parts: string[]): string {
  return hash('sha256', parts.join('|')).slice(0, 32);
}

/** Filters of the alert history; `triggeredFrom ≤ triggeredAt < triggeredTo` in epoch milliseconds. */
export interface AlertQuery {
  ruleId?: string | undefined;
  severity?: Severity | undefined;
  status?: AlertStatus | undefined;
  triggeredFrom?: number | undefined;
  triggeredTo?: number | undefined;
  limit: number;
  offset: number;
}

/** The fields of an alert that the audit log records. It records only actions of people. */
export const AUDITED_ALERT: AuditedFields<Pick<Alert, 'status'>> = { status: (alert) => alert.status };

/**
 * Alerts as people see and change them. No method finds an alert of another workspace. Changes by people are written to
 * the audit trail in the same transaction.
 */
export interface AlertStore {
  /** Newest first. `total` ignores `limit` and `offset`. */
  list(tenantId: TenantId, query: AlertQuery): Promise<{ alerts: Alert[]; total: number }>;
  find(tenantId: TenantId, alertId: string): Promise<Alert | null>;
  /**
   * Acknowledges the alert if it is firing, and queues the notifications about that. Null if it is not firing or does
   * not exist.
   */
  acknowledge(tenantId: TenantId, alertId: string, cause: Cause, at: number): Promise<Alert | null>;
  /** Resolves the alert and queues the notifications about that. Null if it is already resolved or does not exist. */
  resolve(tenantId: TenantId, alertId: string, cause: Cause, at: number): Promise<Alert | null>;
  /** Deliveries by alert id, in the order in which they were queued. */
  deliveries(tenantId: TenantId, alertIds: string[]): Promise<Map<string, Delivery[]>>;
  /** Number of notifications of the workspace that are still to be delivered. */
  countUndelivered(tenantId: TenantId): Promise<number>;
}
