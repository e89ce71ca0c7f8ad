import { NOTIFICATIONS_TOPIC, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import type { NotificationStore } from './store/notification.store.ts';

/** Moves notifications from the outbox to the log. */
export interface Dispatcher extends Loop {
  readonly running: boolean;
  /** When the last pass ended, epoch milliseconds; before the first, when it was started. */
  readonly lastPassAt: number;
}

const MAX_RECORDS_PER_APPEND = 500;

/**
 * Every replica runs one, and each appends what it finds, oldest first, before it removes it: a notification is in the log at least
 * once, and those of a channel in their order. Two replicas that look at the same moment append the same ones twice.
 */
export function createDispatcher(deps: {
  eventLog: EventLog;
  notifications: Pick<NotificationStore, 'outbox' | 'removeFromOutbox'>;
  clock: Clock;
  logger: Logger;
  intervalMs: number;
}): Dispatcher {
  const { eventLog, notifications, clock, logger, intervalMs } = deps;
  let running = false;
  let lastPassAt = 0;

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
      if (queued.length < MAX_RECORDS_PER_APPEND) break;
    }
    lastPassAt = clock();
  }

  const loop = createLoop({ name: 'dispatcher', work: dispatch, intervalMs, logger });
  return {
    ...loop,
    get running() {
      return running;
    },
    get lastPassAt() {
      return lastPassAt;
    },
    async start() {
      await eventLog.ensureTopic(NOTIFICATIONS_TOPIC_OPTIONS);
      lastPassAt = clock();
      running = true;
      await loop.start();
    },
    async stop() {
      await loop.stop();
      running = false;
    },
  };
}
