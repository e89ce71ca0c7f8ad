import type { Clock, TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import type { Alert } from '../domain/alert.ts';
import { activeMutes, muteOf } from '../domain/mute.ts';
import type { AlertFanOut } from './alert.fan-out.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { HeldAlerts } from './held.alerts.ts';
import type { MessageDispatch } from './message.dispatch.ts';
import type { MongoMuteStore } from './mute.store.ts';
import type { NewNotification, NotificationStore } from './notification.store.ts';
import { inTurns } from './workspace.turns.ts';

/** Sends what a silence or maintenance window held back, after its end. */
export interface HeldRelease {
  /**
   * Queues the messages of all alerts that no silence or window holds back any longer. Workspaces take turns, so one
   * with many held messages does not delay others. Several replicas may run it.
   */
  releaseDue(): Promise<void>;
}

/** An alert has up to 20 notifications of two documents each, and a transaction must fit into the store's cache. */
const ALERTS_PER_TURN = 50;

export interface HeldReleaseDeps {
  connection: Connection;
  mutes: Pick<MongoMuteStore, 'read' | 'inTransaction'>;
  held: Pick<HeldAlerts, 'due' | 'move' | 'remove' | 'tenants'>;
  alerts: Pick<MongoAlertStore, 'findAll'>;
  notifications: Pick<NotificationStore, 'takeHeld' | 'holdLonger'>;
  dispatch: MessageDispatch;
  fanOut: AlertFanOut;
  clock: Clock;
}

/** `onQueued` is called after notifications were queued. */
export function createHeldRelease(deps: HeldReleaseDeps, onQueued: () => void): HeldRelease {
  const { connection, mutes, held, alerts, notifications, dispatch, fanOut, clock } = deps;

  /** Releases some alerts of the workspace. Returns whether there may be more. */
  async function takeTurn(tenantId: TenantId): Promise<boolean> {
    const keysBefore = activeMutes(await mutes.read(tenantId), clock()).map(({ key }) => key);
    if ((await held.due(tenantId, keysBefore, 1)).length === 0) return false;
    const taken = await withTransaction(connection, async (session) => {
      const at = clock();
      const active = activeMutes(await mutes.inTransaction(session, tenantId), at);
      const keys = active.map(({ key }) => key);
      const due = await held.due(tenantId, keys, ALERTS_PER_TURN, session);
      const found = await alerts.findAll(
        session,
        due.map(({ alertId }) => alertId),
      );
      const acknowledged: Alert[] = [];
      const released: NewNotification[] = [];
      for (const { alertId, trace } of due) {
        const alert = found.get(alertId);
        const mute = alert === undefined ? null : muteOf(active, alert);
        if (mute !== null) {
          await held.move(session, alertId, mute.key);
          await notifications.holdLonger(session, alertId, mute.mutedBy());
          continue;
        }
        await held.remove(session, [alertId]);
        if (alert === undefined) continue;
        released.push(...(await notifications.takeHeld(session, alert, trace)));
        if (alert.status === 'acknowledged') acknowledged.push(alert);
      }
      await dispatch.send(session, released, at);
      // Otherwise, incident tools would keep calling people about an alert that somebody is working on.
      const traces = new Map(due.map(({ alertId, trace }) => [alertId, trace]));
      const traceOf = ({ id }: Alert) => traces.get(id);
      await fanOut.notify(session, { type: 'alert.acknowledged', alerts: acknowledged, at, traceOf });
      return due.length;
    });
    onQueued();
    return taken === ALERTS_PER_TURN;
  }

  return {
    async releaseDue() {
      await inTurns(await held.tenants(), takeTurn);
    },
  };
}
