import type { Clock } from '@tollkeeper/kernel';
import type { MongoAlertStore } from '../store/alert.store.ts';
import type { WindowStore } from '../store/window.store.ts';
import type { EvaluationMetrics } from './evaluation.metrics.ts';
import type { GatewayEventsConsumer } from './gateway-events.consumer.ts';

/** Resolves alerts whose condition is, by the clock, no longer met (decisions §6). */
export interface AlertResolver {
  /** One look. Alerts of partitions whose events are not all evaluated wait for the next one. */
  resolveLapsed(): Promise<void>;
}

export interface AlertResolverDeps {
  alerts: Pick<MongoAlertStore, 'lapsed' | 'lapsedPartitions' | 'extend' | 'resolve'>;
  windows: Pick<WindowStore, 'progress'>;
  consumer: Pick<GatewayEventsConsumer, 'whileEvaluated'>;
  metrics: EvaluationMetrics;
  clock: Clock;
  onResolved: () => void;
}

const MAX_ALERTS_PER_LOOK = 500;

export function createAlertResolver(deps: AlertResolverDeps): AlertResolver {
  const { alerts, windows, consumer, metrics, clock, onResolved } = deps;

  /** An alert knows how long its condition is met as of some earlier time; the window of its rule may know better by now. */
  async function settle(partition: number): Promise<void> {
    const now = clock();
    const lapsed = await alerts.lapsed(partition, now, MAX_ALERTS_PER_LOOK);
    const progress = await windows.progress([...new Set(lapsed.map(({ ruleId }) => ruleId))]);
    for (const alert of lapsed) {
      const window = progress.get(alert.ruleId);
      // A rule that was edited since, or is gone, says no more about the alert.
      const metUntil = window?.revision === alert.ruleRevision ? (window.metUntil ?? 0) : 0;
      if (metUntil > now) {
        await alerts.extend(alert, metUntil);
      } else if ((await alerts.resolve(alert.tenantId, alert.id, now)) !== null) {
        metrics.resolved();
        onResolved();
      }
    }
  }

  return {
    async resolveLapsed() {
      for (const partition of await alerts.lapsedPartitions(clock())) {
        await consumer.whileEvaluated(partition, () => settle(partition));
      }
    },
  };
}
