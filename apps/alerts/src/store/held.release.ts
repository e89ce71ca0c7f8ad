import type { Clock, TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import type { Alert } from '../domain/alert.ts';
import { activeMutes, muteOf } from '../domain/mute.ts';
import type { AlertFanOut } from './alert.fan-out.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { HeldAlerts } from './held.alerts.ts';
import type { MongoMuteStore } from './mute.store.ts';
import type { NotificationStore } from './notification.store.ts';

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
  notifications: Pick<NotificationStore, 'release' | 'holdLonger'>;
  fanOut: AlertFanOut;
  clock: Clock;
}

/** `onQueued` is called after notifications were queued. */
export function createHeldRelease(deps: HeldReleaseDeps, onQueued: () => void): HeldRelease {
  const { connection, mutes, held, alerts, notifications, fanOut, clock } = deps;

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
        await notifications.release(session, alert, trace, at);
        if (alert.status === 'acknowledged') acknowledged.push(alert);
      }
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
      let waiting = await held.tenants();
      const failures: unknown[] = [];
      while (waiting.length > 0) {
        const next: TenantId[] = [];
        for (const tenantId of waiting) {
          try {
            if (await takeTurn(tenantId)) next.push(tenantId);
          } catch (failure) {
            // The other workspaces do not wait for this one, which is tried again in the next pass.
            failures.push(failure);
          }
        }
        waiting = next;
      }
      if (failures.length > 0) throw new AggregateError(failures, 'held messages of some workspaces were not released');
    },
  };
}
