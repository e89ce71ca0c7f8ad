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
 * The topic of notifications to send, written by alerts and read by the notifier: key is the channel id, so the
 * notifications of a channel keep their order; value what `encodeNotification` writes. At least once: readers keep
 * one delivery for each `notificationId`.
 */
export const NOTIFICATIONS_TOPIC = 'alerts.notifications';

/** A week of retention is the time that the notifier may be down without losing a notification. */
export const NOTIFICATIONS_TOPIC_OPTIONS = { name: NOTIFICATIONS_TOPIC, partitions: 6, retentionMs: 7 * 86_400_000 };

/**
 * The topic of what the notifier reports to alerts, by the `kind` of the record: what became of each notification
 * (`encodeDelivery`), and what became of channels (`channel-records.ts`). At least once. Deliveries have the alert id
 * as their key; `sequence` tells which of two records is newer.
 */
export const DELIVERIES_TOPIC = 'alerts.deliveries';

export const DELIVERIES_TOPIC_OPTIONS = { name: DELIVERIES_TOPIC, partitions: 6, retentionMs: 7 * 86_400_000 };

/** Something to tell a channel. The notifier knows its address and its secret: neither is ever in the log. */
export interface NotificationRecord {
  /** Derived from alert, channel and type, so the same at every append; becomes the `webhook-id`. */
  notificationId: string;
  type: NotificationType;
  tenantId: TenantId;
  channelId: string;
  /** As alerts knew it then: what to call the channel should it be deleted before the first attempt. */
  channelType: string;
  /** The alert as it was at `occurredAt`. */
  alert: AlertRecord;
  /** RFC 3339 UTC: when the alert fired or was resolved, by the clock of alerts. */
  occurredAt: string;
}

/** A notification as its reader has it: what it only shows is any text. */
export interface ReadNotification extends Omit<NotificationRecord, 'type' | 'alert'> {
  type: string;
  alert: ShownAlert;
}

/** How far the delivery of a notification has come. Times are RFC 3339 UTC. */
export interface DeliveryRecord {
  notificationId: string;
  /** Of the notification, as it came. */
  type: string;
  tenantId: TenantId;
  alertId: string;
  channelId: string;
  /** Of the channel at the last attempt; before the first, of the notification as it came. */
  channelType: string;
  status: DeliveryStatus;
  /** Attempts made so far. */
  attempts: number;
  /** HTTP status of the last attempt; null when there was no answer. */
  responseStatus: number | null;
  /** Start of the last answer's body, at most 1 KiB of text. */
  responseSnippet: string | null;
  /** Why the last attempt did not succeed, for a person; never holds a URL or a secret. */
  error: string | null;
  lastAttemptAt: string | null;
  nextAttemptAt: string | null;
  /** Rises with every record of the notification; a reader drops a record that is not newer than what it has. */
  sequence: number;
}

/** A report as its reader has it: a status that it does not know is shown as it is. */
export interface ReadDelivery extends Omit<DeliveryRecord, 'status'> {
  status: string;
}

/** A record for the topic, as a log's `append` takes it. */
export function encodeNotification(notification: NotificationRecord): { key: string; value: Buffer } {
  const { notificationId, type, tenantId, channelId, channelType, alert, occurredAt } = notification;
  const body: z.input<typeof notificationSchema> = {
    v: 1,
    notification_id: notificationId,
    type,
    tenant_id: tenantId,
    channel_id: channelId,
    channel_type: channelType,
    alert,
    occurred_at: occurredAt,
  };
  return { key: channelId, value: Buffer.from(JSON.stringify(body)) };
}

/** A record for the topic, as a log's `append` takes it. */
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

// A producer that is newer than its readers may add fields; they are let by.
export const notificationSchema = z.object({
  v: z.literal(1),
  notification_id: id,
  type: z.enum(NOTIFICATION_TYPES),
  tenant_id: id,
  channel_id: id,
  channel_type: z.string(),
  alert: alertSchema,
  occurred_at: moment,
});

/**
 * What a reader takes: a newer producer may write a kind, a severity or a channel type that its readers have never
 * heard of. They only show or keep it, so it is any text to them, and nothing is set aside for it.
 */
const shownAlertSchema = alertSchema.extend({
  rule_kind: z.string(),
  severity: z.string(),
  status: z.string(),
  scope_type: z.string(),
  // Absent in what was written before alerts had it.
  budget: alertSchema.shape.budget.unwrap().extend({ scope: z.string() }).nullish(),
});

/** An {@link AlertRecord} as other services read it. */
export type ShownAlert = z.infer<typeof shownAlertSchema>;

export const readNotificationSchema = notificationSchema.extend({
  type: z.string(),
  alert: shownAlertSchema,
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
 * Reads the value of a record of `alerts.notifications`. Throws an Error that names the fields that are wrong, never
 * their values: such a record belongs in the dead letters.
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
    occurredAt: record.occurred_at,
  };
}

/** A report as `readDeliverySchema` has taken it. */
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
