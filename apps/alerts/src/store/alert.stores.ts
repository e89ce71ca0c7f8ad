import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { Outbox } from '@tollkeeper/event-log';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import type { OffsetStore } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import { type AlertFanOut, createAlertFanOut } from './alert.fan-out.ts';
import { createAlertStore, type MongoAlertStore } from './alert.store.ts';
import { type ChannelCopies, createChannelCopies } from './channel.copies.ts';
import { createEvaluationRecorder, type EvaluationRecorder } from './evaluation.recorder.ts';
import { createEvaluationStore, type MongoEvaluationStore } from './evaluation.store.ts';
import { createHeldAlerts, type HeldAlerts } from './held.alerts.ts';
import { createMessageDispatch, type MessageDispatch } from './message.dispatch.ts';
import { createMessageGroups, type MessageGroups } from './message.groups.ts';
import { createMuteStore, type MongoMuteStore } from './mute.store.ts';
import { createNotificationStore, type NotificationStore } from './notification.store.ts';
import { createRuleChanges, type RuleChanges } from './rule.changes.ts';
import { createRuleStore, type MongoRuleStore } from './rule.store.ts';
import { createSetAsideStore, type SetAsideStore } from './set-aside.store.ts';
import { createWindowStore, type WindowStore } from './window.store.ts';

/** All stores of alerts, in one database, since they write in the same transactions. */
export interface AlertStores {
  changes: RuleChanges;
  rules: MongoRuleStore;
  channels: ChannelCopies;
  windows: WindowStore;
  setAside: SetAsideStore;
  evaluations: MongoEvaluationStore;
  notifications: NotificationStore;
  alerts: MongoAlertStore;
  mutes: MongoMuteStore;
  held: HeldAlerts;
  groups: MessageGroups;
  dispatch: MessageDispatch;
  fanOut: AlertFanOut;
  recorder: EvaluationRecorder;
}

/** Make them before the connection starts. */
export function createAlertStores(deps: {
  connection: Connection;
  offsets: OffsetStore;
  trail: AuditTrail;
  /** The outbox for notifications. */
  outbox: Pick<Outbox, 'add'>;
  /** How long alerts and delivery results are kept. */
  retentionSeconds: number;
  clock?: Clock;
}): AlertStores {
  const { connection, offsets, trail, outbox, retentionSeconds, clock = systemClock } = deps;
  const changes = createRuleChanges(connection);
  const windows = createWindowStore(connection);
  const setAside = createSetAsideStore(connection);
  const evaluations = createEvaluationStore(connection);
  const notifications = createNotificationStore({ connection, outbox, retentionSeconds });
  const channels = createChannelCopies(connection, clock);
  const rules = createRuleStore({
    connection,
    trail,
    changes,
    channels,
    lastFires: windows.lastFires,
    async forget(session, tenantId, ruleId) {
      await windows.delete(session, tenantId, ruleId);
      await evaluations.delete(session, tenantId, ruleId);
    },
  });
  const mutes = createMuteStore(connection, trail);
  const held = createHeldAlerts(connection);
  const groups = createMessageGroups(connection);
  const dispatch = createMessageDispatch({ groups, notifications });
  const fanOut = createAlertFanOut({ channels, mutes, held, dispatch, notifications });
  const alerts = createAlertStore({ connection, retentionSeconds, trail, fanOut, notifications });
  const shared = { connection, offsets, windows, setAside, rules, alerts, fanOut, evaluations };
  const recorder = createEvaluationRecorder({ ...shared, clock });
  const evaluated = { changes, rules, channels, windows, setAside, evaluations };
  return { ...evaluated, notifications, alerts, mutes, held, groups, dispatch, fanOut, recorder };
}
