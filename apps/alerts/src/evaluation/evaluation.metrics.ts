import type { Clock } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { Outcome } from '../domain/evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';

/** Metrics of the evaluation. */
export interface EvaluationMetrics {
  /** `set_aside`: from a workspace whose windows do not fit into memory. */
  event(outcome: 'counted' | 'late' | 'set_aside'): void;
  decided(outcomes: Readonly<Record<Outcome, number>>): void;
  /**
   * Reports since when the oldest unevaluated record of the partition waits, epoch milliseconds; null if there is none.
   * The lag grows with the clock until the next report, however long the work takes.
   */
  waiting(partition: number, since: number | null): void;
  /** Another consumer owns the partition now. */
  released(partition: number): void;
  resolved(count: number): void;
}

export function createEvaluationMetrics(deps: { metrics: Metrics; book: RuleBook; clock: Clock }): EvaluationMetrics {
  const { metrics, book, clock } = deps;
  const waiting = new Map<number, number | null>();
  const events = metrics.counter({
    name: 'alerts_events_total',
    help: 'Events that match a rule, by outcome: counted, late (over 5 minutes) or set_aside',
    labelNames: ['outcome'],
  });
  const decisions = metrics.counter({
    name: 'alerts_decisions_total',
    help: 'Rule decisions, by outcome: fired, suppressed',
    labelNames: ['outcome'],
  });
  const resolved = metrics.counter({
    name: 'alerts_resolved_by_clock_total',
    help: 'Alerts resolved because their condition was no longer met',
  });
  metrics.gauge({
    name: 'alerts_evaluation_lag_seconds',
    help: 'Age of the oldest record that was read but not evaluated; otherwise 0',
    labelNames: ['partition'],
    collect() {
      this.reset();
      const now = clock();
      for (const [partition, since] of waiting) {
        this.set({ partition }, since === null ? 0 : Math.max(0, now - since) / 1000);
      }
    },
  });
  metrics.gauge({
    name: 'alerts_enabled_rules',
    help: 'Enabled rules that this process evaluates',
    collect() {
      this.set(book.size);
    },
  });

  return {
    event: (outcome) => events.inc({ outcome }),
    decided({ fired, suppressed }) {
      decisions.inc({ outcome: 'fired' }, fired);
      decisions.inc({ outcome: 'suppressed' }, suppressed);
    },
    waiting: (partition, since) => void waiting.set(partition, since),
    released: (partition) => void waiting.delete(partition),
    resolved: (count) => resolved.inc(count),
  };
}
