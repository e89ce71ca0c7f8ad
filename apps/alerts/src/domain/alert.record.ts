import { type AlertRecord, isWithoutLabels } from '@tollkeeper/contracts';
import type { Alert } from './alert.ts';
import type { BudgetFacts } from './budget.terms.ts';
import { thresholdsOf } from './rule-kinds.ts';

type SpendFacts = Pick<Alert, 'condition' | 'settledMicros' | 'deviation' | 'burn' | 'forecast'>;

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
    ...(alert.raise && { raise: alert.raise }),
    ...toDeviation(alert),
    ...toBurn(alert),
    ...toForecast(alert),
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
  if (settledMicros === null || condition.kind !== 'spend_gte') return null;
  return { threshold_micros: condition.thresholdMicros, settled_micros: settledMicros };
}

/** The field of a `deviation_gte`; nothing for other kinds. */
export function toDeviation({ condition, deviation }: SpendFacts): Pick<AlertRecord, 'deviation'> {
  if (deviation === undefined) return {};
  const { times = 0, minMicros = 0 } = thresholdsOf(condition);
  const { agentId, hour, spentMicros, medianMicros, weeks } = deviation;
  const measured = { spent_micros: spentMicros, median_micros: medianMicros, weeks };
  return { deviation: { agent_id: agentId, hour: toTimestamp(hour), ...measured, times, min_micros: minMicros } };
}

/** The field of a `burn_rate_gte`; nothing for other kinds. */
export function toBurn({ condition, burn }: SpendFacts): Pick<AlertRecord, 'burn'> {
  if (burn === undefined) return {};
  const { permille = 0, longSeconds = 0, shortSeconds = 0 } = thresholdsOf(condition);
  const rate = { fraction: permille / 1000, long_seconds: longSeconds, short_seconds: shortSeconds };
  return { burn: { ...toBudget(burn), ...rate, long_micros: burn.longMicros, short_micros: burn.shortMicros } };
}

/** The field of a `forecast_gte`; nothing for other kinds. */
export function toForecast({ condition, forecast }: SpendFacts): Pick<AlertRecord, 'forecast'> {
  if (forecast === undefined) return {};
  const { percent = 0 } = thresholdsOf(condition);
  const { spentMicros, spentSince, paceMicros, paceSince, weeks, forecastMicros, usedUpAt } = forecast;
  return {
    forecast: {
      ...{ ...toBudget(forecast), percent, spent_micros: spentMicros, spent_since: toTimestamp(spentSince) },
      ...{ pace_micros: paceMicros, pace_since: toTimestamp(paceSince), weeks },
      ...{ forecast_micros: forecastMicros, used_up_at: toTimestampOrNull(usedUpAt) },
    },
  };
}

function toBudget({ budgetId, budgetName, value, isOfOthers, limitMicros, periodKind: kind, period }: BudgetFacts) {
  return {
    ...{ budget_id: budgetId, budget_name: budgetName, limit_micros: limitMicros },
    ...(value !== null && { value }),
    ...(isOfOthers && { is_of_others: true }),
    period: period && { kind, start: toTimestamp(period.start), end: toTimestamp(period.end) },
  };
}

/** Formats as RFC 3339 UTC with milliseconds. */
export function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}

export function toTimestampOrNull(time: number | null): string | null {
  return time === null ? null : toTimestamp(time);
}
