import { type AlertRecord, isWithoutLabels } from '@tollkeeper/contracts';
import type { Alert } from './alert.ts';
import { thresholdsOf } from './rule-kinds.ts';

type SpendFacts = Pick<Alert, 'condition' | 'settledMicros'>;

/** The alert in its wire form, without deliveries. */
export function toAlertRecord(alert: Alert): AlertRecord {
  return {
    id: alert.id,
    tenant_id: alert.tenantId,
    rule_id: alert.ruleId,
    rule_name: alert.ruleName,
    rule_kind: alert.condition.kind,
    severity: alert.severity,
    status: alert.status,
    scope_type: alert.scopeType,
    scope_id: alert.scopeId,
    event_types: alert.eventTypes,
    ...(!isWithoutLabels(alert.labels) && { labels: alert.labels }),
    window: { start: toTimestamp(alert.windowStart), end: toTimestamp(alert.windowEnd) },
    threshold: thresholdsOf(alert.condition).threshold,
    event_count: alert.eventCount,
    spend: toSpend(alert),
    budget: alert.budget,
    sample_event_ids: alert.sampleEventIds,
    first_event_at: toTimestamp(alert.firstEventAt),
    last_event_at: toTimestamp(alert.lastEventAt),
    triggered_at: toTimestamp(alert.triggeredAt),
    acknowledged_at: toTimestampOrNull(alert.acknowledgedAt),
    acknowledged_by: alert.acknowledgedBy,
    resolved_at: toTimestampOrNull(alert.resolvedAt),
  };
}

/** The spend that met a `spend_gte` condition; null for other kinds. */
export function toSpend({ condition, settledMicros }: SpendFacts): AlertRecord['spend'] {
  if (settledMicros === null) return null;
  return { threshold_micros: thresholdsOf(condition).thresholdMicros, settled_micros: settledMicros };
}

/** Formats as RFC 3339 UTC with milliseconds. */
export function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}

export function toTimestampOrNull(time: number | null): string | null {
  return time === null ? null : toTimestamp(time);
}
