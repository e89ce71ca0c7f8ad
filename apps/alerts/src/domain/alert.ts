import { hash } from 'node:crypto';
import type {
  AlertStatus,
  AuditedFields,
  Cause,
  NotificationType,
  ReachedBudget,
  ScopeType,
  Severity,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Evidence } from './condition.ts';
import type { Decision } from './evaluator.ts';
import type { RuleCondition } from './rule-kinds.ts';

/** A fire of a rule, with the rule as it was then. */
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
  /** The budget threshold that the triggering event reported; null for events of other types. */
  budget: ReachedBudget | null;
  /** The channels that are notified. */
  channelIds: string[];
  status: AlertStatus;
  /** Event time of the event that the rule fired with. All other times of an alert are by the clock. */
  triggeredAt: number;
  acknowledgedAt: number | null;
  acknowledgedBy: string | null;
  resolvedAt: number | null;
  /** Up to when the condition is known to be met, epoch milliseconds: after that the alert resolves by itself. */
  metUntil: number;
}

/** What became of one notification of an alert. Times are epoch milliseconds. */
export interface Delivery {
  notificationId: string;
  type: NotificationType;
  alertId: string;
  channelId: string;
  /** As the notifier names it. */
  channelType: string;
  /** As the notifier reports it. */
  status: string;
  attempts: number;
  responseStatus: number | null;
  responseSnippet: string | null;
  error: string | null;
  lastAttemptAt: number | null;
  nextAttemptAt: number | null;
}

/**
 * The alert of a decision to fire. Its id follows from rule, revision and event, so that deciding again makes no second
 * one.
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
    budget: event.budget ?? null,
    channelIds: rule.channelIds,
    status: 'firing',
    triggeredAt: event.time,
    acknowledgedAt: null,
    acknowledgedBy: null,
    resolvedAt: null,
    metUntil,
  };
}

/** The same for every attempt to tell this channel this about this alert. */
export function notificationIdOf(alertId: string, channelId: string, type: NotificationType): string {
  return `ntf_${digest(alertId, channelId, type)}`;
}

function digest(...parts: string[]): string {
  return hash('sha256', parts.join('|')).slice(0, 32);
}

/** What history is asked for; `triggeredFrom ≤ triggeredAt < triggeredTo` in epoch milliseconds. */
export interface AlertQuery {
  ruleId?: string | undefined;
  severity?: Severity | undefined;
  status?: AlertStatus | undefined;
  triggeredFrom?: number | undefined;
  triggeredTo?: number | undefined;
  limit: number;
  offset: number;
}

/** The fields of an alert that the audit log records: only the actions of people. */
export const AUDITED_ALERT: AuditedFields<Pick<Alert, 'status'>> = { status: (alert) => alert.status };

/**
 * Alerts as people see and change them. Another workspace's alert does not exist for any method. What a person changes
 * is written to the audit trail in its transaction.
 */
export interface AlertStore {
  /** Newest first, and how many there are without `limit` and `offset`. */
  list(tenantId: TenantId, query: AlertQuery): Promise<{ alerts: Alert[]; total: number }>;
  find(tenantId: TenantId, alertId: string): Promise<Alert | null>;
  /** Acknowledges the alert if it is firing. Null when it is not, or does not exist. */
  acknowledge(tenantId: TenantId, alertId: string, cause: Cause, at: number): Promise<Alert | null>;
  /**
   * Resolves the alert unless it is resolved, and queues the notifications of that. Null when it is, or does not exist.
   */
  resolve(tenantId: TenantId, alertId: string, cause: Cause, at: number): Promise<Alert | null>;
  /** Deliveries by alert id: of the fire first, then of the resolution. */
  deliveries(tenantId: TenantId, alertIds: string[]): Promise<Map<string, Delivery[]>>;
  /** Notifications of the workspace that are still to be delivered. */
  countUndelivered(tenantId: TenantId): Promise<number>;
}
