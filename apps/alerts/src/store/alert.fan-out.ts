import { isNotifiedOf, type NotificationType } from '@tollkeeper/contracts';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession } from 'mongoose';
import type { Alert } from '../domain/alert.ts';
import { activeMutes, muteOf } from '../domain/mute.ts';
import type { ChannelCopies } from './channel.copies.ts';
import type { HeldAlert, HeldAlerts } from './held.alerts.ts';
import type { MessageDispatch } from './message.dispatch.ts';
import type { MongoMuteStore } from './mute.store.ts';
import type { HeldNotification, NewNotification, NotificationStore } from './notification.store.ts';

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
   *
   * If a silence or maintenance window fits an alert that fires, its notifications are held back instead. Until they
   * are released, nobody knows of the alert, so there are none about its acknowledgement, and none at all once it is
   * resolved.
   */
  notify(session: ClientSession, news: AlertNews): Promise<void>;
}

export function createAlertFanOut(deps: {
  channels: Pick<ChannelCopies, 'enabled'>;
  mutes: Pick<MongoMuteStore, 'inTransaction'>;
  held: Pick<HeldAlerts, 'add' | 'claim' | 'remove'>;
  dispatch: MessageDispatch;
  notifications: Pick<NotificationStore, 'hold' | 'drop'>;
}): AlertFanOut {
  const { channels, mutes, held, dispatch, notifications } = deps;

  /** Those among the alerts that people know of. */
  async function known(session: ClientSession, { type, alerts }: AlertNews): Promise<readonly Alert[]> {
    const unknown = new Set(
      await held.claim(
        session,
        alerts.map(({ id }) => id),
      ),
    );
    if (type === 'alert.resolved') {
      await held.remove(session, [...unknown]);
      await notifications.drop(session, [...unknown]);
    }
    return alerts.filter(({ id }) => !unknown.has(id));
  }

  return {
    async notify(session, news) {
      const { type, at, traceOf } = news;
      const isNew = type === 'alert.fired';
      const alerts = isNew ? news.alerts : await known(session, news);
      const queued: NewNotification[] = [];
      const heldBack: HeldNotification[] = [];
      const heldAlerts: HeldAlert[] = [];
      for (const [tenantId, ofTenant] of Map.groupBy(alerts, (alert) => alert.tenantId)) {
        const channelIds = [...new Set(ofTenant.flatMap((alert) => alert.channelIds))];
        const enabled = channelIds.length === 0 ? [] : await channels.enabled(session, tenantId, channelIds);
        if (enabled.length === 0) continue;
        const active = isNew ? activeMutes(await mutes.inTransaction(session, tenantId), at) : [];
        for (const alert of ofTenant) {
          const ofAlert = enabled.filter((each) => alert.channelIds.includes(each.id) && isNotifiedOf(each.type, type));
          const fresh = ofAlert.map((channel) => ({ alert, type, channel, trace: traceOf(alert) }));
          const mute = fresh.length === 0 ? null : muteOf(active, alert);
          if (mute === null) queued.push(...fresh);
          else {
            const by = mute.mutedBy();
            heldBack.push(...fresh.map((each) => ({ ...each, held: by })));
            heldAlerts.push({ alertId: alert.id, tenantId, muteKey: mute.key, trace: traceOf(alert) });
          }
        }
      }
      await held.add(session, heldAlerts, at);
      await notifications.hold(session, heldBack, at);
      await dispatch.send(session, queued, at);
    },
  };
}
