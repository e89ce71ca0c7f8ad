import type { Metrics } from '@tollkeeper/runtime';
import type { Decision } from '../domain/evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';

/** What operators see of the evaluation. */
export interface EvaluationMetrics {
  events(outcome: 'counted' | 'late', count: number): void;
  decided(decisions: readonly Decision[]): void;
  /** How long the newest evaluated record of a partition had been in the log. */
  lag(partition: number, lagMs: number): void;
  resolved(count: number): void;
}

export function createEvaluationMetrics(metrics: Metrics, book: RuleBook): EvaluationMetrics {
  const events = metrics.counter({
    name: 'alerts_events_total',
    help: 'Events that a rule names, counted or over 5 minutes late and not counted',
    labelNames: ['outcome'],
  });
  const decisions = metrics.counter({
    name: 'alerts_decisions_total',
    help: 'Decisions of rules, by outcome',
    labelNames: ['outcome'],
  });
  const resolved = metrics.counter({
    name: 'alerts_resolved_by_clock_total',
    help: 'Alerts that were resolved because their condition was no longer met',
  });
  const lag = metrics.gauge({
    name: 'alerts_evaluation_lag_seconds',
    help: 'Time from the append of the newest evaluated event to its evaluation',
    labelNames: ['partition'],
  });
  metrics.gauge({
    name: 'alerts_enabled_rules',
    help: 'Enabled rules of all workspaces that this process watches',
    collect() {
      this.set(book.size);
    },
  });

  return {
    events: (outcome, count) => void (count > 0 && events.inc({ outcome }, count)),
    decided(made) {
      for (const { outcome } of made) decisions.inc({ outcome });
    },
    lag: (partition, lagMs) => lag.set({ partition }, Math.max(0, lagMs) / 1000),
    resolved: (count) => resolved.inc(count),
  };
}
