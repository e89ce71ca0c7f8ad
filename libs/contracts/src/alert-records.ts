import { IDENTIFIER, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import {
  type AlertRecord,
  alertSchema,
  CHANNEL_TYPES,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  NOTIFICATION_TYPES,
  type NotificationType,
} from './api/alert.ts';
import { moment } from './api/primitives.ts';
import { readRecord } from './record-reader.ts';

/**
 * The topic of notifications to send, written by alerts and read by the notifier. The key is the channel id, so the
 * notifications of a channel keep their order. `encodeNotification` writes the value. Delivery is at least once:
 * readers keep one delivery per `notificationId`.
 */
export const NOTIFICATIONS_TOPIC = 'alerts.notifications';

/** The notifier may be down for the retention of a week without losing notifications. */
export const NOTIFICATIONS_TOPIC_OPTIONS = { name: NOTIFICATIONS_TOPIC, partitions: 6, retentionMs: 7 * 86_400_000 };

/**
 * The topic of the notifier's reports to alerts. The `kind` of a record is either the state of a delivery
 * (`encodeDelivery`) or a change of a channel (`channel-records.ts`). Delivery is at least once. Deliveries have the
 * alert id as their key; the record with the higher `sequence` is newer. A restored notifier counts `sequence` anew.
 */
export const DELIVERIES_TOPIC = 'alerts.deliveries';

export const DELIVERIES_TOPIC_OPTIONS = { name: DELIVERIES_TOPIC, partitions: 6, retentionMs: 7 * 86_400_000 };

/** A message for a channel. Only the notifier knows the channel's address and secret: neither is ever in the log. */
export interface NotificationRecord {
  /** Derived from alert, channel and type, so identical for every append; becomes the `webhook-id`. */
  notificationId: string;
  type: NotificationType;
  tenantId: TenantId;
  channelId: string;
  /** The type known to alerts at the time, in case the channel is deleted before the first attempt. */
  channelType: string;
  /** The alert as of `occurredAt`. */
  alert: AlertRecord;
  /** If the rule groups its alerts: those that this message is about. `alert` is the first of them. */
  group?: AlertGroup<AlertRecord>;
  /**
   * RFC 3339 UTC: when the alert fired, was acknowledged or was resolved, by the clock of the alerts service; for a
   * message that was held back or collected, when it was released.
   */
  occurredAt: string;
}

/** Several alerts of a rule in one message. */
export interface AlertGroup<Named> {
  /** Number of alerts, with the first. */
  total: number;
  /** How many of them are resolved. */
  resolved: number;
  /** The next few alerts after the first. */
  others: Named[];
}

/** The most alerts that a message names after the first. It counts the rest. */
export const MAX_OTHER_ALERTS = 10;

/** A notification as its reader sees it: fields that are only displayed may be any text. */
export interface ReadNotification extends Omit<NotificationRecord, 'type' | 'alert' | 'group'> {
  type: string;
  alert: ShownAlert;
  group?: AlertGroup<ShownAlert> | undefined;
}

/** The delivery state of a notification. Times are RFC 3339 UTC. */
export interface DeliveryRecord {
  notificationId: string;
  /** Copied from the notification. */
  type: string;
  tenantId: TenantId;
  alertId: string;
  channelId: string;
  /** Type of the channel at the last attempt; before the first attempt, copied from the notification. */
  channelType: string;
  status: DeliveryStatus;
  /** Number of attempts so far. */
  attempts: number;
  /** HTTP status of the last attempt; null if there was no answer. */
  responseStatus: number | null;
  /** Beginning of the last answer's body, at most 1 KiB of text. */
  responseSnippet: string | null;
  /** Why the last attempt failed, for people; never contains a URL or a secret. */
  error: string | null;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  /** Increases with every state of the notification; readers drop records that are not newer than theirs. */
  sequence: number;
}

/** A report as its reader sees it: an unknown status is displayed as is. */
export interface ReadDelivery extends Omit<DeliveryRecord, 'status'> {
  status: string;
}

/** Returns a record for `append` of a log. */
export function encodeNotification(notification: NotificationRecord): { key: string; value: Buffer } {
  const { notificationId, type, tenantId, channelId, channelType, alert, group, occurredAt } = notification;
  const body: z.input<typeof notificationSchema> = {
    v: 1,
    notification_id: notificationId,
    type,
    tenant_id: tenantId,
    channel_id: channelId,
    channel_type: channelType,
    alert,
    ...(group && { group }),
    occurred_at: occurredAt,
  };
  return { key: channelId, value: Buffer.from(JSON.stringify(body)) };
}

/** Returns a record for `append` of a log. */
export function encodeDelivery(delivery: DeliveryRecord): { key: string; value: Buffer } {
  const body: z.input<typeof readDeliverySchema> = {
    v: 1,
    kind: 'delivery',
    notification_id: delivery.notificationId,
    type: delivery.type,
    tenant_id: delivery.tenantId,
    alert_id: delivery.alertId,
    channel_id: delivery.channelId,
    channel_type: delivery.channelType,
    status: delivery.status,
    attempts: delivery.attempts,
    response_status: delivery.responseStatus,
    response_snippet: delivery.responseSnippet,
    error: delivery.error,
    last_attempt_at: delivery.lastAttemptAt,
    next_attempt_at: delivery.nextAttemptAt,
    sequence: delivery.sequence,
  };
  return { key: delivery.alertId, value: Buffer.from(JSON.stringify(body)) };
}

const id = z.string().regex(IDENTIFIER);
const count = z.int().min(0);

// A newer producer may add fields, which are ignored.
export const notificationSchema = z.object({
  v: z.literal(1),
  notification_id: id,
  type: z.enum(NOTIFICATION_TYPES),
  tenant_id: id,
  channel_id: id,
  channel_type: z.string(),
  alert: alertSchema,
  group: z.object({ total: count, resolved: count, others: z.array(alertSchema).max(MAX_OTHER_ALERTS) }).optional(),
  occurred_at: moment,
});

/**
 * The reader's schema. A newer producer may write an unknown kind, severity or channel type. Readers only display or
 * store these, so any text is valid and no record becomes a dead letter for it.
 */
const shownAlertSchema = alertSchema.extend({
  rule_kind: z.string(),
  severity: z.string(),
  status: z.string(),
  scope_type: z.string(),
  budget: alertSchema.shape.budget.unwrap().extend({ scope: z.string() }).nullable(),
});

/** An {@link AlertRecord} as other services see it. */
export type ShownAlert = z.infer<typeof shownAlertSchema>;

export const readNotificationSchema = notificationSchema.extend({
  type: z.string(),
  alert: shownAlertSchema,
  group: z.object({ total: count, resolved: count, others: z.array(shownAlertSchema) }).optional(),
});

export const deliverySchema = z.object({
  v: z.literal(1),
  kind: z.literal('delivery'),
  notification_id: id,
  type: z.enum(NOTIFICATION_TYPES),
  tenant_id: id,
  alert_id: id,
  channel_id: id,
  channel_type: z.enum(CHANNEL_TYPES),
  status: z.enum(DELIVERY_STATUSES),
  attempts: count,
  response_status: z.int().nullable(),
  response_snippet: z.string().nullable(),
  error: z.string().nullable(),
  last_attempt_at: moment.nullable(),
  next_attempt_at: moment.nullable(),
  sequence: count,
});

export const readDeliverySchema = deliverySchema.extend({
  type: z.string(),
  channel_type: z.string(),
  status: z.string(),
});

/**
 * Reads the value of a record of `alerts.notifications`. Throws an Error that names the invalid fields, never their
 * values: such a record belongs in the dead letters.
 */
export function decodeNotification(value: Buffer): ReadNotification {
  const record = readRecord(readNotificationSchema, value);
  return {
    notificationId: record.notification_id,
    type: record.type,
    tenantId: provenTenantId(record.tenant_id),
    channelId: record.channel_id,
    channelType: record.channel_type,
    alert: record.alert,
    ...(record.group && { group: record.group }),
    occurredAt: record.occurred_at,
  };
}

/** The report of a record that `readDeliverySchema` has parsed. */
export function toReadDelivery(record: z.output<typeof readDeliverySchema>): ReadDelivery {
  return {
    notificationId: record.notification_id,
    type: record.type,
    tenantId: provenTenantId(record.tenant_id),
    alertId: record.alert_id,
    channelId: record.channel_id,
    channelType: record.channel_type,
    status: record.status,
    attempts: record.attempts,
    responseStatus: record.response_status,
    responseSnippet: record.response_snippet,
    error: record.error,
    lastAttemptAt: record.last_attempt_at,
    nextAttemptAt: record.next_attempt_at,
    sequence: record.sequence,
  };
}
