import { decodeNotifierRecord, DELIVERIES_TOPIC_OPTIONS, type NotifierRecord } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { ClientSession } from 'mongoose';
import type { ChannelCopies } from '../store/channel.copies.ts';
import type { NotificationStore } from '../store/notification.store.ts';
import type { MongoRuleStore } from '../store/rule.store.ts';

/** Stores the notifier's reports about deliveries and channels. */
export function createNotifierReportsConsumer(deps: {
  group: ConsumerGroup;
  notifications: Pick<NotificationStore, 'report'>;
  channels: Pick<ChannelCopies, 'remember'>;
  rules: Pick<MongoRuleStore, 'removeChannel'>;
}): LogConsumer {
  const { group, notifications, channels, rules } = deps;

  function takeOver(session: ClientSession, record: NotifierRecord): Promise<unknown> | undefined {
    switch (record.kind) {
      case 'delivery':
        return notifications.report(session, record.delivery);
      case 'channel.changed':
        return channels.remember(session, record.tenantId, [record.channel]);
      case 'channel.deleted':
        return rules.removeChannel(session, record.tenantId, record.channelId);
      case 'other':
        return undefined;
    }
  }

  return group.consumer({
    topic: DELIVERIES_TOPIC_OPTIONS,
    maxRecords: 200,
    decode: ({ value }) => decodeNotifierRecord(value),
    async apply(session, records) {
      for (const record of records) await takeOver(session, record);
    },
  });
}
