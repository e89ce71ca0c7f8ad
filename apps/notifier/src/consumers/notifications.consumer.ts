import { decodeNotification, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import { traceHeadersOf } from '@tollkeeper/runtime';
import type { StoredNotification } from '../store/delivery.document.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'notifier';

/** Queues each notification of the log once. */
export function createNotificationsConsumer(deps: {
  group: ConsumerGroup;
  store: Pick<DeliveryStore, 'add'>;
  /** Called after deliveries were queued. */
  onQueued: () => void;
  clock: Clock;
}): LogConsumer {
  const { group, store, onQueued, clock } = deps;
  return group.consumer({
    topic: NOTIFICATIONS_TOPIC_OPTIONS,
    maxRecords: 200,
    decode: ({ value, offset, headers }): StoredNotification => ({
      notification: decodeNotification(value),
      offset,
      trace: traceHeadersOf(headers),
    }),
    apply: (session, notifications) => store.add(session, notifications, clock()),
    applied: onQueued,
  });
}
