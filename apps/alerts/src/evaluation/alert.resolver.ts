import type { Clock } from '@tollkeeper/kernel';
import type { Alert } from '../domain/alert.ts';
import type { MongoAlertStore } from '../store/alert.store.ts';
import type { WindowProgress, WindowStore } from '../store/window.store.ts';
import type { EvaluationMetrics } from './evaluation.metrics.ts';

/** Resolves alerts whose condition has lapsed with time. */
export interface AlertResolver {
  /** Checks once. Alerts stay until a later check if events from before this one are not evaluated yet. */
  resolveLapsed(): Promise<void>;
}

/** How far the events of the log are evaluated. */
export interface EvaluatedLog {
  /** The offset behind the last record of each partition, by partition number. */
  endOffsets(): Promise<readonly number[]>;
  /** Whether everything of the partition before `offset` is evaluated and stored, by this replica or by another one. */
  hasEvaluated(partition: number, offset: number): Promise<boolean>;
}

export interface AlertResolverDeps {
  alerts: Pick<MongoAlertStore, 'lapsed' | 'lapsedPartitions' | 'extend' | 'resolveLapsed'>;
  windows: Pick<WindowStore, 'progress'>;
  log: EvaluatedLog;
  metrics: EvaluationMetrics;
  clock: Clock;
  onResolved: () => void;
}

const MAX_ALERTS_PER_LOOK = 200;
/** An alert has up to 20 notifications of two documents each, and a transaction must fit into the store's cache. */
const ALERTS_PER_TRANSACTION = 50;

/** A check of a partition: everything accepted before `at` is in the log before `end`. */
interface Look {
  at: number;
  end: number;
}

export function createAlertResolver(deps: AlertResolverDeps): AlertResolver {
  const { alerts, windows, log, metrics, clock, onResolved } = deps;
  /** Checks whose events are not evaluated yet. Kept, because a log that keeps growing may never be read to its end. */
  const waiting = new Map<number, Look>();

  /**
   * Resolves the alerts that lapsed before `at`; all events accepted until then are evaluated. An alert may have an
   * outdated `metUntil`, so the window of its rule is consulted too.
   */
  async function settle(partition: number, at: number): Promise<void> {
    const lapsed = await alerts.lapsed(partition, at, MAX_ALERTS_PER_LOOK);
    const progress = await windows.progress([...new Set(lapsed.map(({ ruleId }) => ruleId))]);
    const known = lapsed.map((alert) => ({ alert, metUntil: metUntil(alert, progress.get(alert.ruleId)) }));
    await alerts.extend(known.filter((each) => each.metUntil > at));
    const over = known.filter((each) => each.metUntil <= at).map(({ alert }) => alert);
    for (let from = 0; from < over.length; from += ALERTS_PER_TRANSACTION) {
      const resolved = await alerts.resolveLapsed(over.slice(from, from + ALERTS_PER_TRANSACTION), clock());
      if (resolved.length === 0) continue;
      metrics.resolved(resolved.length);
      onResolved();
    }
  }

  return {
    async resolveLapsed() {
      const at = clock();
      const partitions = await alerts.lapsedPartitions(at);
      if (partitions.length === 0) return;
      const ends = await log.endOffsets();
      for (const partition of partitions) {
        const look = waiting.get(partition) ?? { at, end: ends[partition] ?? 0 };
        waiting.set(partition, look);
        if (!(await log.hasEvaluated(partition, look.end))) continue;
        waiting.delete(partition);
        await settle(partition, look.at);
      }
    },
  };
}

/** If the rule was edited or deleted since, its window says nothing about the alert. */
function metUntil({ ruleRevision }: Alert, window: WindowProgress | undefined): number {
  return window?.revision === ruleRevision ? (window.metUntil ?? 0) : 0;
}
