import { decodeDelivery, DELIVERIES_TOPIC_OPTIONS, type ReadDelivery } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Logger } from '@tollkeeper/runtime';
import type { ClientSession } from 'mongoose';
import type { MongoChannelStore } from '../store/channel.store.ts';
import type { NotificationStore } from '../store/notification.store.ts';

/** Takes over what became of notifications, each report once, and disables the channels whose destination is gone. */
export function createDeliveriesConsumer(deps: {
  group: ConsumerGroup;
  notifications: Pick<NotificationStore, 'report'>;
  channels: Pick<MongoChannelStore, 'disable'>;
  logger: Logger;
}): LogConsumer {
  const { group, notifications, channels, logger } = deps;

  /** Answers those whose channel was disabled. */
  async function takeOver(session: ClientSession, reports: readonly ReadDelivery[]): Promise<ReadDelivery[]> {
    const gone: ReadDelivery[] = [];
    for (const report of reports) {
      const isNew = await notifications.report(session, report);
      const { tenantId, channelId, disableChannel, lastAttemptAt } = report;
      if (!isNew || !disableChannel || lastAttemptAt === null) continue;
      if (await channels.disable(session, tenantId, channelId, new Date(lastAttemptAt))) gone.push(report);
    }
    return gone;
  }

  return group.consumer({
    topic: DELIVERIES_TOPIC_OPTIONS,
    maxRecords: 200,
    decode: ({ value }) => decodeDelivery(value),
    apply: takeOver,
    applied(disabled) {
      for (const { tenantId, channelId } of disabled) {
        logger.warn(
          { tenant_id: tenantId, channel_id: channelId },
          'a channel was disabled, since its destination answered 410 Gone',
        );
      }
    },
  });
}
