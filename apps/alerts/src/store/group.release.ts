import type { Clock } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import type { MongoAlertStore } from './alert.store.ts';
import type { MessageGroups } from './message.groups.ts';
import type { NotificationStore } from './notification.store.ts';
import { inTurns } from './workspace.turns.ts';

/** Each has up to 11 alerts in it, and a transaction must fit into the store's cache. */
const GROUPS_PER_TURN = 20;

export interface GroupReleaseDeps {
  connection: Connection;
  groups: Pick<MessageGroups, 'due' | 'remove' | 'dueTenants'>;
  alerts: Pick<MongoAlertStore, 'findAll'>;
  notifications: Pick<NotificationStore, 'queueGroup'>;
  clock: Clock;
}

/**
 * Queues the messages about several alerts that are due, with the alerts as they are by then. Workspaces take turns.
 * Several replicas may run it. `onQueued` is called after messages were queued.
 */
export function createGroupRelease(deps: GroupReleaseDeps, onQueued: () => void): { releaseDue(): Promise<void> } {
  const { connection, groups, alerts, notifications, clock } = deps;
  return {
    async releaseDue() {
      await inTurns(await groups.dueTenants(clock()), async (tenantId) => {
        const taken = await withTransaction(connection, async (session) => {
          const at = clock();
          const due = await groups.due(session, tenantId, at, GROUPS_PER_TURN);
          const found = await alerts.findAll(
            session,
            due.flatMap(({ alertIds }) => alertIds),
          );
          for (const { messageId, type, channel, trace, alertIds, total, resolved } of due) {
            const [alert, ...others] = alertIds.flatMap((id) => found.get(id) ?? []);
            // The history has none of them any longer.
            if (alert === undefined) continue;
            const group = { total, resolved, others };
            await notifications.queueGroup(session, { messageId, alert, type, channel, trace, group }, at);
          }
          await groups.remove(
            session,
            due.map(({ key }) => key),
          );
          return due.length;
        });
        onQueued();
        return taken === GROUPS_PER_TURN;
      });
    },
  };
}
