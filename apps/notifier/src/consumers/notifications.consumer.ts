import { decodeNotification, NOTIFICATIONS_TOPIC, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { DeadLetters, EventLog, LogConsumer, RecordBatch } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import { type OffsetStore, withTransaction } from '@tollkeeper/mongo';
import { traceHeadersOf } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { StoredNotification } from '../store/delivery.document.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

/** The group that the notifier's replicas read as, and under which they keep their offsets. */
export const CONSUMER_GROUP = 'notifier';

/** Bounds the transaction: an alert has up to some 10 kB. */
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

/** Queues each notification of the log once: the deliveries and the offset behind them are committed in one transaction. */
export function createNotificationsConsumer(deps: NotificationsConsumerDeps): LogConsumer {
  const { eventLog, deadLetters, connection, offsets, store, onQueued, clock } = deps;

  async function handle(batch: RecordBatch): Promise<void> {
    const notifications = await readable(batch, deadLetters);
    const { topic, partition, from, nextOffset: to } = batch;
    await withTransaction(connection, async (session) => {
      await offsets.advance(session, { topic, partition, from, to });
      await store.add(session, notifications, clock());
    });
    onQueued();
  }

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: NOTIFICATIONS_TOPIC,
    handler: { position: offsets.position, handle },
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

async function readable(batch: RecordBatch, deadLetters: DeadLetters): Promise<StoredNotification[]> {
  const notifications: StoredNotification[] = [];
  for (const record of batch.records) {
    try {
      const notification = decodeNotification(record.value);
      notifications.push({ notification, offset: record.offset, trace: traceHeadersOf(record.headers) });
    } catch (error) {
      await deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
    }
  }
  return notifications;
}
