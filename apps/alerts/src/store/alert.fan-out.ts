import { isNotifiedOf, type NotificationType } from '@tollkeeper/contracts';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession } from 'mongoose';
import type { Alert } from '../domain/alert.ts';
import type { ChannelCopies } from './channel.copies.ts';
import type { NewNotification, NotificationStore } from './notification.store.ts';

/** Changed alerts, in their state after the change. */
interface AlertNews {
  type: NotificationType;
  alerts: readonly Alert[];
  /** Epoch milliseconds. */
  at: number;
  /** The trace of the notifications about an alert. */
  traceOf: (alert: Alert) => TraceHeaders | undefined;
}

/** Queues the notifications of alerts, within the transaction that changes the alerts. */
export interface AlertFanOut {
  /**
   * Queues a notification for each enabled channel of each alert whose type takes such notifications, in the order of
   * the alerts. Call it once per alert and type.
   */
  notify(session: ClientSession, news: AlertNews): Promise<void>;
}

export function createAlertFanOut(deps: {
  channels: Pick<ChannelCopies, 'enabled'>;
  notifications: Pick<NotificationStore, 'queue'>;
}): AlertFanOut {
  const { channels, notifications } = deps;
  return {
    async notify(session, { type, alerts, at, traceOf }) {
      const queued: NewNotification[] = [];
      for (const [tenantId, ofTenant] of Map.groupBy(alerts, (alert) => alert.tenantId)) {
        const channelIds = [...new Set(ofTenant.flatMap((alert) => alert.channelIds))];
        const enabled = channelIds.length === 0 ? [] : await channels.enabled(session, tenantId, channelIds);
        for (const alert of ofTenant) {
          const ofAlert = enabled.filter((each) => alert.channelIds.includes(each.id) && isNotifiedOf(each.type, type));
          queued.push(...ofAlert.map((channel) => ({ alert, type, channel, trace: traceOf(alert) })));
        }
      }
      await notifications.queue(session, queued, at);
    },
  };
}
