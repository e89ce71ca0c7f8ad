import { createSparingWarner, type Logger, type Metrics } from '@tollkeeper/runtime';
import { type AccessLogDeps, ENTRY_OUTCOMES } from './adapters/access.log.handlers.ts';
import type { DenialReporterDeps } from './domain/denial.reporter.ts';
import type { UsedUp } from './domain/grant.ts';
import type { GrantingDeps } from './domain/granting.ts';
import type { BudgetFillerDeps } from './domain/budget.filler.ts';
import type { ThresholdReporterDeps } from './domain/threshold.reporter.ts';

/** What a workspace may not exceed: the quota of `calls`, or a maximum named by the domain. */
type Quota = 'calls' | 'raises' | 'report_bytes' | UsedUp;

export function createOverQuota(metrics: Metrics) {
  const counter = metrics.counter({
    name: 'enforcer_requests_over_quota_total',
    help: 'Gateway requests refused because the workspace exceeded a quota, by quota; reports wait instead',
    labelNames: ['quota'],
  });
  for (const quota of ['calls', 'raises', 'report_bytes', 'open_reservations', 'accounts', 'held'] satisfies Quota[])
    counter.inc({ quota }, 0);
  return counter;
}

interface DecisionTelemetryDeps {
  metrics: Metrics;
  overQuota: ReturnType<typeof createOverQuota>;
  logger: Logger;
  now: () => number;
}

export function createDecisionTelemetry({
  metrics,
  overQuota,
  logger,
  now,
}: DecisionTelemetryDeps): Pick<GrantingDeps, 'onDecision' | 'onUsedUp'> & Pick<DenialReporterDeps, 'onUnreported'> {
  const decisions = metrics.counter({
    name: 'enforcer_decisions_total',
    help: 'Requests for reservations and leases answered, excluding dry runs, by decision',
    labelNames: ['decision'],
  });
  const unreported = metrics.counter({
    name: 'enforcer_unreported_denials_total',
    help: 'Denials that the event log did not accept and that dashboards and alert rules therefore miss',
  });
  const message = 'calls were denied, but the event log did not accept their events';
  const warnOfUnreported = createSparingWarner(logger, now, message);
  const warnOfUsedUp = createSparingWarner(logger, now, 'a workspace has reached a quota of its reservations');
  return {
    onDecision: (decision) => decisions.inc({ decision }),
    onUnreported(tenant_id, err, count) {
      unreported.inc(count);
      warnOfUnreported({ err, tenant_id });
    },
    onUsedUp(tenant_id, quota) {
      overQuota.inc({ quota });
      warnOfUsedUp({ tenant_id });
    },
  };
}

/** Warns sparingly, since every waiting workspace is checked again periodically. */
export function createThresholdTelemetry({
  logger,
  now,
}: Pick<DecisionTelemetryDeps, 'logger' | 'now'>): Pick<
  ThresholdReporterDeps,
  'onLimitsUnknown' | 'onUnreportedThresholds'
> {
  const warnOfLimits = createSparingWarner(logger, now, 'budgets does not answer; threshold events are delayed');
  const warnOfFailure = createSparingWarner(logger, now, 'reached thresholds could not be reported; retrying');
  return {
    onLimitsUnknown: (tenant_id, err) => warnOfLimits({ err, tenant_id }),
    onUnreportedThresholds: (tenant_id, err) => warnOfFailure({ err, tenant_id }),
  };
}

/** Counts the pages of settlements that were filled into budgets. A failed one is tried again every two seconds. */
export function createFillTelemetry({
  metrics,
  logger,
  now,
}: Pick<DecisionTelemetryDeps, 'metrics' | 'logger' | 'now'>): Pick<BudgetFillerDeps, 'onPage' | 'onFailure'> {
  const pages = metrics.counter({
    name: 'enforcer_fill_pages_total',
    help: 'Pages of settlements that were read to fill budgets made in the middle of their period, by outcome',
    labelNames: ['outcome'],
  });
  const warn = createSparingWarner(logger, now, 'budgets cannot be filled with earlier spend; retrying');
  return {
    onPage: (outcome) => pages.inc({ outcome }),
    onFailure(tenant_id, err) {
      pages.inc({ outcome: 'failed' });
      warn({ err, tenant_id });
    },
  };
}

/** Counts the entries of access logs. Why one was set aside is logged sparingly: settings affect all entries. */
export function createAccessLogTelemetry({
  metrics,
  logger,
  now,
}: Pick<DecisionTelemetryDeps, 'metrics' | 'logger' | 'now'>): Pick<AccessLogDeps, 'onEntries'> {
  const counter = metrics.counter({
    name: 'enforcer_access_log_entries_total',
    help: 'Entries of access logs of Envoy, by outcome',
    labelNames: ['outcome'],
  });
  for (const outcome of ENTRY_OUTCOMES) counter.inc({ outcome }, 0);
  const warn = createSparingWarner(logger, now, 'entries of an access log were set aside');
  return {
    onEntries(tenant_id, entries, why) {
      for (const outcome of ENTRY_OUTCOMES) counter.inc({ outcome }, entries[outcome]);
      const because = typeof why === 'string' ? { reason: why } : { err: why };
      if (entries.set_aside > 0) warn({ tenant_id, records: entries.set_aside, ...because });
    },
  };
}
