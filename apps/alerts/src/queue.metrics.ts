import type { Clock } from '@tollkeeper/kernel';
import { type Logger, lookedUpGauge, type Metrics } from '@tollkeeper/runtime';
import type { MessageGroups } from './store/message.groups.ts';
import type { NotificationStore } from './store/notification.store.ts';

/** Metrics of the notifications of all workspaces. */
export function registerQueueMetrics(deps: {
  metrics: Metrics;
  notifications: Pick<NotificationStore, 'oldestUndelivered'>;
  groups: Pick<MessageGroups, 'oldestDueAt'>;
  clock: Clock;
  logger: Logger;
}): void {
  const { metrics, notifications, groups, clock, logger } = deps;
  lookedUpGauge(metrics, {
    name: 'alerts_oldest_undelivered_age_seconds',
    help: 'Age of the oldest notification that is neither delivered nor given up, of a grouped one since it was due; else 0',
    async lookUp() {
      const waiting = await Promise.all([notifications.oldestUndelivered(), groups.oldestDueAt()]);
      return Math.max(0, ...waiting.map((since) => (since === null ? 0 : clock() - since.getTime()))) / 1000;
    },
    logger,
  });
}
