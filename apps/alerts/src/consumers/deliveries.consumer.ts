import { decodeDelivery, DELIVERIES_TOPIC, DELIVERIES_TOPIC_OPTIONS, type DeliveryRecord } from '@tollkeeper/contracts';
import type { DeadLetters, EventLog, LogConsumer, RecordBatch } from '@tollkeeper/event-log';
import { type OffsetStore, withTransaction } from '@tollkeeper/mongo';
import type { Logger } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { MongoChannelStore } from '../store/channel.store.ts';
import type { NotificationStore } from '../store/notification.store.ts';
import { CONSUMER_GROUP } from './gateway-events.consumer.ts';

const MAX_RECORDS_PER_BATCH = 200;

export interface DeliveriesConsumerDeps {
  eventLog: EventLog;
  deadLetters: DeadLetters;
  connection: Connection;
  offsets: OffsetStore;
  notifications: Pick<NotificationStore, 'report'>;
  channels: Pick<MongoChannelStore, 'disable'>;
  logger: Logger;
}

/** Takes over what became of notifications, each report once, and disables the channels whose destination is gone. */
export function createDeliveriesConsumer(deps: DeliveriesConsumerDeps): LogConsumer {
  const { eventLog, deadLetters, connection, offsets, notifications, channels, logger } = deps;

  async function handle(batch: RecordBatch): Promise<void> {
    const reports = await readable(batch, deadLetters);
    const { topic, partition, from, nextOffset: to } = batch;
    const disabled = await withTransaction(connection, async (session) => {
      await offsets.advance(session, { topic, partition, from, to });
      const gone: DeliveryRecord[] = [];
      for (const report of reports) {
        const isNew = await notifications.report(session, report);
        const { tenantId, channelId, disableChannel, lastAttemptAt } = report;
        if (!isNew || !disableChannel || lastAttemptAt === null) continue;
        if (await channels.disable(session, tenantId, channelId, new Date(lastAttemptAt))) gone.push(report);
      }
      return gone;
    });
    for (const { tenantId, channelId } of disabled) {
      logger.warn({ tenantId, channelId }, 'a channel was disabled, since its destination answered 410 Gone');
    }
  }

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: DELIVERIES_TOPIC,
    handler: { position: offsets.position, handle },
    maxRecords: MAX_RECORDS_PER_BATCH,
  });
  return {
    ...consumer,
    async start() {
      await eventLog.ensureTopic(DELIVERIES_TOPIC_OPTIONS);
      await consumer.start();
    },
  };
}

async function readable(batch: RecordBatch, deadLetters: DeadLetters): Promise<DeliveryRecord[]> {
  const reports: DeliveryRecord[] = [];
  for (const record of batch.records) {
    try {
      reports.push(decodeDelivery(record.value));
    } catch (error) {
      await deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
    }
  }
  return reports;
}
