import { NOTIFICATIONS_TOPIC, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop, type LoopStatus } from '@tollkeeper/runtime';
import type { NotificationStore } from './store/notification.store.ts';

const MAX_RECORDS_PER_APPEND = 500;

/**
 * Moves notifications from the outbox to the log.
 *
 * Every replica runs one, and each appends what it finds, oldest first, before it removes it: a notification is in the
 * log at least once, and those of a channel in their order. Two replicas that look at the same moment append the same
 * ones twice.
 */
export function createDispatcher(deps: {
  eventLog: EventLog;
  notifications: Pick<NotificationStore, 'outbox' | 'removeFromOutbox'>;
  clock: Clock;
  logger: Logger;
  intervalMs: number;
}): Loop & LoopStatus {
  const { eventLog, notifications } = deps;

  async function dispatch(): Promise<void> {
    for (;;) {
      const queued = await notifications.outbox(MAX_RECORDS_PER_APPEND);
      if (queued.length > 0) {
        await eventLog.append(
          NOTIFICATIONS_TOPIC,
          queued.map(({ record }) => record),
        );
        await notifications.removeFromOutbox(queued.map(({ id }) => id));
      }
      if (queued.length < MAX_RECORDS_PER_APPEND) return;
    }
  }

  return createLoop({
    ...deps,
    name: 'dispatcher',
    prepare: () => eventLog.ensureTopic(NOTIFICATIONS_TOPIC_OPTIONS),
    work: dispatch,
  });
}
