import type { Clock } from '@tollkeeper/kernel';
import { type Logger, lookedUpGauge, type Metrics } from '@tollkeeper/runtime';
import type { AttemptResult } from '../domain/attempt-delivery.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

export interface DeliveryMetrics {
  /** Counts the results of work on deliveries. */
  observe(delivery: Delivery, result: AttemptResult): void;
}

const ATTEMPT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const DELIVERY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 36_000];

export function createDeliveryMetrics(deps: {
  metrics: Metrics;
  store: Pick<DeliveryStore, 'depth' | 'oldestStoredAt'>;
  clock: Clock;
  logger: Logger;
}): DeliveryMetrics {
  const { metrics, store, clock, logger } = deps;
  const labelNames = ['channel_type'] as const;
  const outcomes = metrics.counter({
    name: 'notifier_deliveries_total',
    help: 'Results of deliveries, by outcome: delivered, failed, retrying',
    labelNames: ['channel_type', 'outcome'],
  });
  const attemptDuration = metrics.histogram({
    name: 'notifier_attempt_duration_seconds',
    help: 'Duration of requests to destinations, including name lookup and connection',
    labelNames,
    buckets: ATTEMPT_BUCKETS,
  });
  const eventToDelivery = metrics.histogram({
    name: 'notifier_event_to_delivery_seconds',
    help: 'Time from the newest event of a fired alert to the delivery of its notification',
    labelNames,
    buckets: DELIVERY_BUCKETS,
  });
  lookedUpGauge(metrics, {
    name: 'notifier_queue_depth',
    help: 'Unfinished deliveries, across all replicas',
    lookUp: () => store.depth(),
    logger,
  });
  lookedUpGauge(metrics, {
    name: 'notifier_oldest_queued_age_seconds',
    help: 'Age of the oldest unfinished delivery, across all replicas; otherwise 0',
    async lookUp() {
      const storedAt = await store.oldestStoredAt();
      return storedAt === null ? 0 : Math.max(0, clock() - storedAt) / 1000;
    },
    logger,
  });

  return {
    observe({ notification }, result) {
      const { channelType } = result.state;
      outcomes.inc({ channel_type: channelType, outcome: result.state.status });
      if (result.kind === 'abandoned') return;
      attemptDuration.observe({ channel_type: channelType }, result.durationMs / 1000);
      if (result.state.status !== 'delivered' || notification.type !== 'alert.fired') return;
      const sinceMs = clock() - Date.parse(notification.alert.last_event_at);
      eventToDelivery.observe({ channel_type: channelType }, Math.max(0, sinceMs) / 1000);
    },
  };
}
