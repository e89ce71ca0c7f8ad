import type { Clock } from '@tollkeeper/kernel';
import { type Logger, lookedUpGauge, type Metrics } from '@tollkeeper/runtime';
import type { NotificationStore } from './store/notification.store.ts';

/** Metrics of the notifications of all workspaces. */
export function registerQueueMetrics(deps: {
  metrics: Metrics;
  notifications: Pick<NotificationStore, 'oldestUndelivered'>;
  clock: Clock;
  logger: Logger;
}): void {
  const { metrics, notifications, clock, logger } = deps;
  lookedUpGauge(metrics, {
    name: 'alerts_oldest_undelivered_age_seconds',
    help: 'Age of the oldest notification that is neither delivered nor given up; otherwise 0',
    async lookUp() {
      const queuedAt = await notifications.oldestUndelivered();
      return queuedAt === null ? 0 : Math.max(0, clock() - queuedAt.getTime()) / 1000;
    },
    logger,
  });
}
