import {
  type AlertGroup,
  type DeliveryStatus,
  encodeNotification,
  NOTIFICATION_TYPES,
  type NotificationRecord,
  type NotificationType,
  type ReadDelivery,
} from '@tollkeeper/contracts';
import type { Outbox, OutboxRecord } from '@tollkeeper/event-log';
import type { TenantId } from '@tollkeeper/kernel';
import type { TraceHeaders } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import { toAlertRecord } from '../domain/alert.record.ts';
import { type Alert, COLLECTED, type Delivery, DROPPED, HELD, notificationIdOf } from '../domain/alert.ts';
import type { MutedBy } from '../domain/muted-by.ts';
import type { NotifiedChannel } from './channel.copies.ts';

/**
 * `_id` is the notification id. A message about several alerts has a row of its own, which is of no alert: its
 * `alertId` is its id.
 */
interface StoredDelivery extends Omit<Delivery, 'notificationId' | 'group'> {
  _id: string;
  /** In the row of an alert: the message about several alerts that names or counts it. */
  messageId?: string;
  /** In the row of such a message: how many alerts it is about. */
  alerts?: number;
  tenantId: string;
  /** When it was held back or, later, queued. */
  queuedAt: Date;
  /** See `DeliveryRecord.sequence`; -1 until the notifier reports. */
  sequence: number;
}

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const nullableText = { type: String, default: null } as const;
const nullableNumber = { type: Number, default: null } as const;

const UNDELIVERED: DeliveryStatus[] = ['queued', 'retrying'];
const OLDEST_UNDELIVERED = 'oldest_undelivered';

function deliverySchema(retentionSeconds: number): Schema<StoredDelivery> {
  const schema = new Schema<StoredDelivery>(
    {
      _id: text,
      tenantId: text,
      type: { ...text, enum: NOTIFICATION_TYPES },
      alertId: text,
      channelId: text,
      channelType: text,
      status: text,
      attempts: number,
      responseStatus: nullableNumber,
      responseSnippet: nullableText,
      error: nullableText,
      lastAttemptAt: nullableNumber,
      nextAttemptAt: nullableNumber,
      held: Schema.Types.Mixed,
      messageId: String,
      alerts: Number,
      queuedAt: { type: Date, required: true },
      sequence: number,
    },
    { collection: 'deliveries', versionKey: false },
  );
  schema.index({ alertId: 1, queuedAt: 1 });
  const undelivered = { partialFilterExpression: { status: { $in: UNDELIVERED } } };
  schema.index({ tenantId: 1, queuedAt: 1 }, undelivered);
  schema.index({ queuedAt: 1, status: 1 }, { ...undelivered, name: OLDEST_UNDELIVERED });
  schema.index({ queuedAt: 1 }, { expireAfterSeconds: retentionSeconds });
  return schema;
}

/** A notification for one channel. */
export interface NewNotification {
  alert: Alert;
  type: NotificationType;
  channel: NotifiedChannel;
  /** The trace of the notification, which travels with it through the log. */
  trace: TraceHeaders | undefined;
  /** What holds or has held it back. */
  held?: MutedBy | undefined;
}

export interface HeldNotification extends NewNotification {
  held: MutedBy;
}

export interface CollectedNotification extends NewNotification {
  /** The message about several alerts that it waits for. */
  messageId: string;
  /** When that message goes out, epoch milliseconds. */
  dueAt: number;
}

/** A message about several alerts of a rule. */
interface GroupMessage extends Omit<NewNotification, 'held'> {
  messageId: string;
  group: AlertGroup<Alert>;
}

/** Notifications and their delivery results. */
export interface NotificationStore {
  /** Queues the notifications in this order, each with its alert as given. Call it once per alert, type and channel. */
  queue(session: ClientSession, notifications: readonly NewNotification[], at: number): Promise<void>;
  /** Stores notifications that are not queued yet. Call it once per alert, type and channel. */
  hold(session: ClientSession, notifications: readonly HeldNotification[], at: number): Promise<void>;
  /** Says what holds the notifications of the alert back now. */
  holdLonger(session: ClientSession, alertId: string, held: MutedBy): Promise<void>;
  /** Takes those of the alert that are held back out of the store. */
  takeHeld(session: ClientSession, alert: Alert, trace: TraceHeaders | undefined): Promise<NewNotification[]>;
  /** Stores notifications that a message about several alerts stands for. Call it once per alert, type and channel. */
  collect(session: ClientSession, notifications: readonly CollectedNotification[], at: number): Promise<void>;
  /** By notification id: the messages about several alerts that stand for them. */
  messagesOf(session: ClientSession, notificationIds: readonly string[]): Promise<Map<string, string>>;
  queueGroup(session: ClientSession, message: GroupMessage, at: number): Promise<void>;
  /** Gives up those of the alerts that are held back. */
  drop(session: ClientSession, alertIds: readonly string[]): Promise<void>;
  /** Stores a report, unless it is older than the stored one or its notification is unknown. */
  report(session: ClientSession, delivery: ReadDelivery): Promise<void>;
  deliveries(tenantId: TenantId, alertIds: string[]): Promise<Map<string, Delivery[]>>;
  countUndelivered(tenantId: TenantId): Promise<number>;
  /**
   * When the oldest notification that is neither delivered nor given up was queued, across all workspaces; null if
   * there is none.
   */
  oldestUndelivered(): Promise<Date | null>;
}

/**
 * Notifications in the database of `connection`, with delivery results that are kept for `retentionSeconds` after
 * queuing. Make it before the connection starts.
 */
export function createNotificationStore(deps: {
  connection: Connection;
  /** The outbox of notifications that go to the log. */
  outbox: Pick<Outbox, 'add'>;
  retentionSeconds: number;
}): NotificationStore {
  const { connection, outbox, retentionSeconds } = deps;
  const deliveries = connection.model<StoredDelivery>('Delivery', deliverySchema(retentionSeconds));
  const undelivered = () => ({ status: trusted({ $in: UNDELIVERED }) });

  return {
    async queue(session, fresh, at) {
      if (fresh.length === 0) return;
      const queuedAt = new Date(at);
      await deliveries.insertMany(
        fresh.map((notification) => toDeliveryRow(notification, queuedAt)),
        { session },
      );
      await outbox.add(
        session,
        fresh.map((notification) => toOutboxRecord(notification, queuedAt)),
      );
    },

    async hold(session, fresh, at) {
      const heldAt = new Date(at);
      const rows = fresh.map((each) => ({ ...toDeliveryRow(each, heldAt), status: HELD }));
      if (rows.length > 0) await deliveries.insertMany(rows, { session });
    },

    async holdLonger(session, alertId, held) {
      await deliveries.updateMany({ alertId, status: HELD }, { $set: { held } }, { session });
    },

    async takeHeld(session, alert, trace) {
      const filter = { alertId: alert.id, status: HELD };
      const found = await deliveries.find(filter, null, { session }).sort({ channelId: 1 }).lean();
      await deliveries.deleteMany(filter, { session });
      return found.map(({ type, channelId: id, channelType, held }) => ({
        ...{ alert, type, channel: { id, type: channelType }, trace, held },
      }));
    },

    ...grouping(deliveries, outbox),

    async drop(session, alertIds) {
      const filter = { alertId: trusted({ $in: [...alertIds] }), status: HELD };
      if (alertIds.length > 0) await deliveries.updateMany(filter, { $set: { status: DROPPED } }, { session });
    },

    async report(session, delivery) {
      const { notificationId, tenantId, sequence, status, attempts, responseStatus, responseSnippet, error } = delivery;
      const lastAttemptAt = toTime(delivery.lastAttemptAt);
      const isNewer = [
        { sequence: trusted({ $lt: sequence }) },
        // A notifier whose database was restored counts anew.
        { ...undelivered(), lastAttemptAt: trusted({ $lt: lastAttemptAt }) },
      ];
      const filter = { _id: notificationId, tenantId, $or: isNewer };
      const nextAttemptAt = toTime(delivery.nextAttemptAt);
      const outcome = { status, attempts, responseStatus, responseSnippet, error, lastAttemptAt, nextAttemptAt };
      await deliveries.updateOne(filter, { $set: { ...outcome, sequence } }, { session });
    },

    async deliveries(tenantId, alertIds) {
      const found = await deliveries
        .find({ alertId: trusted({ $in: alertIds }), tenantId })
        .sort({ queuedAt: 1, type: 1, channelId: 1 })
        .lean();
      const messageIds = [...new Set(found.flatMap(({ messageId }) => messageId ?? []))];
      const sent =
        messageIds.length === 0 ? [] : await deliveries.find({ _id: trusted({ $in: messageIds }), tenantId }).lean();
      const messages = new Map(sent.map((row) => [row._id, row]));
      const shown = found.map((row) => toDelivery(row, messages.get(row.messageId ?? '')));
      return Map.groupBy(shown, (delivery) => delivery.alertId);
    },

    countUndelivered: (tenantId) => deliveries.countDocuments({ tenantId, ...undelivered() }),

    async oldestUndelivered() {
      const oldest = await deliveries
        .findOne(undelivered(), { queuedAt: 1 })
        .sort({ queuedAt: 1 })
        .hint(OLDEST_UNDELIVERED)
        .lean();
      return oldest?.queuedAt ?? null;
    },
  };
}

/** The operations on notifications that a message about several alerts stands for. */
function grouping(
  deliveries: Model<StoredDelivery>,
  outbox: Pick<Outbox, 'add'>,
): Pick<NotificationStore, 'collect' | 'messagesOf' | 'queueGroup'> {
  return {
    async collect(session, fresh, at) {
      const collectedAt = new Date(at);
      const rows = fresh.map(({ messageId, dueAt, ...each }) => ({
        ...{ ...toDeliveryRow(each, collectedAt), status: COLLECTED, messageId, nextAttemptAt: dueAt },
      }));
      if (rows.length > 0) await deliveries.insertMany(rows, { session });
    },

    async messagesOf(session, notificationIds) {
      if (notificationIds.length === 0) return new Map();
      const filter = { _id: trusted({ $in: [...notificationIds] }) };
      const found = await deliveries.find(filter, { messageId: 1 }, { session }).lean();
      return new Map(found.flatMap(({ _id, messageId }) => (messageId === undefined ? [] : [[_id, messageId]])));
    },

    async queueGroup(session, message, at) {
      const queuedAt = new Date(at);
      const { messageId: _id, group } = message;
      const row = { ...toDeliveryRow(message, queuedAt), _id, alertId: _id, alerts: group.total };
      await deliveries.insertMany([row], { session });
      const shown = { ...group, others: group.others.map(toAlertRecord) };
      await outbox.add(session, [toOutboxRecord(message, queuedAt, { notificationId: _id, group: shown })]);
    },
  };
}

function toDeliveryRow({ alert, type, channel, held }: NewNotification, queuedAt: Date): StoredDelivery {
  return {
    _id: notificationIdOf(alert.id, channel.id, type),
    tenantId: alert.tenantId,
    type,
    alertId: alert.id,
    channelId: channel.id,
    channelType: channel.type,
    status: 'queued',
    attempts: 0,
    responseStatus: null,
    responseSnippet: null,
    error: null,
    lastAttemptAt: null,
    nextAttemptAt: null,
    ...(held && { held }),
    queuedAt,
    sequence: -1,
  };
}

function toOutboxRecord(
  { alert, type, channel, trace }: NewNotification,
  queuedAt: Date,
  ofGroup?: Pick<NotificationRecord, 'notificationId' | 'group'>,
): OutboxRecord {
  const notification = {
    notificationId: notificationIdOf(alert.id, channel.id, type),
    ...{ type, tenantId: alert.tenantId, channelId: channel.id, channelType: channel.type },
    ...{ alert: toAlertRecord(alert), occurredAt: queuedAt.toISOString() },
    ...ofGroup,
  };
  return { id: notification.notificationId, ...encodeNotification(notification), trace };
}

/** `message` is the message that stands for the notification, once it is sent. */
function toDelivery(row: StoredDelivery, message?: StoredDelivery): Delivery {
  const { _id: notificationId, type, alertId, channelId, held } = row;
  const { channelType, status, attempts, responseStatus, responseSnippet, error, ...times } = message ?? row;
  return {
    ...{ notificationId, type, alertId, channelId, channelType, status, attempts, responseStatus, responseSnippet },
    ...{ error, lastAttemptAt: times.lastAttemptAt, nextAttemptAt: times.nextAttemptAt, ...(held && { held }) },
    ...(message?.alerts !== undefined && { group: { messageId: message._id, alerts: message.alerts } }),
  };
}

function toTime(timestamp: string | null): number | null {
  return timestamp === null ? null : Date.parse(timestamp);
}
