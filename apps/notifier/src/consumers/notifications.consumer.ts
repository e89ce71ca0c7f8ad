import { decodeNotification, NOTIFICATIONS_TOPIC, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import { createTransactionalHandler, type DeadLetters, type EventLog, type LogConsumer } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import type { OffsetStore } from '@tollkeeper/mongo';
import { traceHeadersOf } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { StoredNotification } from '../store/delivery.document.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

/** The group that the notifier's replicas read as, and under which they keep their offsets. */
export const CONSUMER_GROUP = 'notifier';

const MAX_RECORDS_PER_BATCH = 200;

export interface NotificationsConsumerDeps {
  eventLog: EventLog;
  deadLetters: DeadLetters;
  connection: Connection;
  offsets: OffsetStore;
  store: Pick<DeliveryStore, 'add'>;
  /** Called when deliveries were queued. */
  onQueued: () => void;
  clock: Clock;
}

/** Queues each notification of the log once: deliveries and the offset behind them are committed in one transaction. */
export function createNotificationsConsumer(deps: NotificationsConsumerDeps): LogConsumer {
  const { eventLog, deadLetters, connection, offsets, store, onQueued, clock } = deps;

  const handler = createTransactionalHandler({
    connection,
    offsets,
    deadLetters,
    read: ({ value, offset, headers }): StoredNotification => ({
      notification: decodeNotification(value),
      offset,
      trace: traceHeadersOf(headers),
    }),
    apply: (session, notifications) => store.add(session, notifications, clock()),
    applied: onQueued,
  });

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: NOTIFICATIONS_TOPIC,
    handler,
    maxRecords: MAX_RECORDS_PER_BATCH,
  });
  return {
    ...consumer,
    async start() {
      await eventLog.ensureTopic(NOTIFICATIONS_TOPIC_OPTIONS);
      await consumer.start();
    },
  };
}
