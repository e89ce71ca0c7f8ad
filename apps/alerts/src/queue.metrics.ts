import type { Clock } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { NotificationStore } from './store/notification.store.ts';

/** What operators see of the notifications of all workspaces; looked up when the metrics are read. */
export function registerQueueMetrics(deps: {
  metrics: Metrics;
  notifications: Pick<NotificationStore, 'outboxDepth' | 'oldestUndelivered'>;
  clock: Clock;
  logger: Logger;
}): void {
  const { metrics, notifications, clock, logger } = deps;

  /** The other metrics are still worth reading when the database does not answer. */
  const lookUp = (value: () => Promise<number>) =>
    async function (this: { set(value: number): void }): Promise<void> {
      try {
        this.set(await value());
      } catch (err) {
        logger.warn({ err }, 'the notification queue could not be looked up for the metrics');
      }
    };

  metrics.gauge({
    name: 'alerts_outbox_depth',
    help: 'Notifications that are not in the log yet',
    collect: lookUp(() => notifications.outboxDepth()),
  });
  metrics.gauge({
    name: 'alerts_oldest_undelivered_age_seconds',
    help: 'Age of the oldest notification that is neither delivered nor given up; 0 without one',
    collect: lookUp(async () => {
      const queuedAt = await notifications.oldestUndelivered();
      return queuedAt === null ? 0 : Math.max(0, clock() - queuedAt.getTime()) / 1000;
    }),
  });
}
