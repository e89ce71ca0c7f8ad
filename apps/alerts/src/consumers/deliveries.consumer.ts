import { decodeDelivery, DELIVERIES_TOPIC, DELIVERIES_TOPIC_OPTIONS, type DeliveryRecord } from '@tollkeeper/contracts';
import { createTransactionalHandler, type DeadLetters, type EventLog, type LogConsumer } from '@tollkeeper/event-log';
import type { OffsetStore } from '@tollkeeper/mongo';
import type { Logger } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
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

  /** Answers those whose channel was disabled. */
  async function takeOver(session: ClientSession, reports: readonly DeliveryRecord[]): Promise<DeliveryRecord[]> {
    const gone: DeliveryRecord[] = [];
    for (const report of reports) {
      const isNew = await notifications.report(session, report);
      const { tenantId, channelId, disableChannel, lastAttemptAt } = report;
      if (!isNew || !disableChannel || lastAttemptAt === null) continue;
      if (await channels.disable(session, tenantId, channelId, new Date(lastAttemptAt))) gone.push(report);
    }
    return gone;
  }

  const handler = createTransactionalHandler({
    connection,
    offsets,
    deadLetters,
    read: ({ value }) => decodeDelivery(value),
    apply: takeOver,
    applied(disabled) {
      for (const { tenantId, channelId } of disabled) {
        logger.warn({ tenantId, channelId }, 'a channel was disabled, since its destination answered 410 Gone');
      }
    },
  });

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: DELIVERIES_TOPIC,
    handler,
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
