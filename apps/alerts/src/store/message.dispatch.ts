import { hasIncidents, MAX_OTHER_ALERTS } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import type { ClientSession } from 'mongoose';
import { notificationIdOf } from '../domain/alert.ts';
import { groupKeyOf, type MessageGroup, type MessageGroups } from './message.groups.ts';
import type { CollectedNotification, NewNotification, NotificationStore } from './notification.store.ts';

/** Queues messages, or collects them if their rule groups its alerts. */
export interface MessageDispatch {
  /** Call it once per alert, type and channel, in the order in which a channel gets its messages. */
  send(session: ClientSession, fresh: readonly NewNotification[], at: number): Promise<void>;
}

export function createMessageDispatch(deps: {
  groups: Pick<MessageGroups, 'read' | 'write'>;
  notifications: Pick<NotificationStore, 'queue' | 'collect' | 'messagesOf'>;
}): MessageDispatch {
  const { groups, notifications } = deps;

  async function collect(session: ClientSession, fresh: readonly NewNotification[], at: number): Promise<void> {
    const resolved = fresh.filter(({ type }) => type === 'alert.resolved');
    const open = await groups.read(session, [...new Set([...fresh.map(keyOf), ...resolved.map(firedKeyOf)])]);
    const firedIn = await notifications.messagesOf(session, resolved.map(firedIdOf));
    const changed = new Set<MessageGroup>();
    const collected: CollectedNotification[] = [];
    for (const each of fresh) {
      const fired = each.type === 'alert.resolved' ? open.get(firedKeyOf(each)) : undefined;
      if (fired !== undefined && fired.messageId === firedIn.get(firedIdOf(each))) {
        // The message that it fired is still to be sent, and will say that it is resolved.
        fired.resolved += 1;
        changed.add(fired);
        continue;
      }
      const group = open.get(keyOf(each)) ?? newGroup(each, at);
      add(group, each);
      open.set(group.key, group);
      changed.add(group);
      collected.push({ ...each, messageId: group.messageId, dueAt: group.dueAt });
    }
    await groups.write(session, changed);
    await notifications.collect(session, collected, at);
  }

  return {
    async send(session, fresh, at) {
      const grouped = fresh.filter(isGrouped);
      if (grouped.length > 0) await collect(session, grouped, at);
      const single = grouped.length === 0 ? fresh : fresh.filter((each) => !isGrouped(each));
      await notifications.queue(session, single, at);
    },
  };
}

/**
 * Incident tools have an incident for each alert, which is acknowledged and resolved alone. A message about a request
 * for a raise has the link that decides it, which is good for an hour.
 */
function isGrouped({ alert, channel }: NewNotification): boolean {
  return alert.groupSeconds !== undefined && alert.raise === undefined && !hasIncidents(channel.type);
}

function keyOf({ alert, channel, type }: NewNotification): string {
  return groupKeyOf(alert.ruleId, channel.id, type);
}

function firedKeyOf({ alert, channel }: NewNotification): string {
  return groupKeyOf(alert.ruleId, channel.id, 'alert.fired');
}

function firedIdOf({ alert, channel }: NewNotification): string {
  return notificationIdOf(alert.id, channel.id, 'alert.fired');
}

function newGroup({ alert, channel, type, trace }: NewNotification, at: number): MessageGroup {
  return {
    ...{ key: groupKeyOf(alert.ruleId, channel.id, type), tenantId: alert.tenantId, messageId: newId('ntf') },
    ...{ type, channel, trace, alertIds: [], total: 0, resolved: 0 },
    dueAt: at + 1000 * (alert.groupSeconds ?? 0),
  };
}

function add(group: MessageGroup, { alert }: NewNotification): void {
  group.total += 1;
  if (alert.status === 'resolved') group.resolved += 1;
  if (group.alertIds.length <= MAX_OTHER_ALERTS) group.alertIds.push(alert.id);
}
