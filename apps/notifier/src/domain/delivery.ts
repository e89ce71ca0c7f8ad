import type { DeliveryRecord, DeliveryStatus, ReadNotification } from '@tollkeeper/contracts';

/** The trace context that a notification came with (W3C Trace Context). */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** A notification to deliver to its channel, with its state. */
export interface Delivery extends DeliveryState {
  notification: ReadNotification;
  /** All attempts and reports continue this trace. */
  trace?: TraceContext | undefined;
  /** Position among the notifications of the channel: its offset in the log. */
  offset: number;
  /** Increases with every change of the state. */
  sequence: number;
}

/** The state that an attempt changes. Times are epoch milliseconds. */
export interface DeliveryState {
  /** `queued` before the first attempt, `retrying` between attempts. `delivered` and `failed` are final. */
  status: DeliveryStatus;
  /** The channel's type at the last attempt; before the first, the type in the notification. */
  channelType: string;
  attempts: number;
  responseStatus: number | null;
  responseSnippet: string | null;
  error: string | null;
  lastAttemptAt: number | null;
  /** Null once the delivery is over. */
  nextAttemptAt: number | null;
}

/** The state of a new delivery. It is due at once. */
export function queuedState({ channelType }: Pick<ReadNotification, 'channelType'>, at: number): DeliveryState {
  return {
    status: 'queued',
    channelType,
    attempts: 0,
    responseStatus: null,
    responseSnippet: null,
    error: null,
    lastAttemptAt: null,
    nextAttemptAt: at,
  };
}

/** The report about a delivery for alerts. */
export function toDeliveryRecord(delivery: Delivery): DeliveryRecord {
  const { notificationId, type, tenantId, channelId, alert } = delivery.notification;
  return {
    notificationId,
    type,
    tenantId,
    alertId: alert.id,
    channelId,
    channelType: delivery.channelType,
    status: delivery.status,
    attempts: delivery.attempts,
    responseStatus: delivery.responseStatus,
    responseSnippet: delivery.responseSnippet,
    error: delivery.error,
    lastAttemptAt: toTimestamp(delivery.lastAttemptAt),
    nextAttemptAt: toTimestamp(delivery.nextAttemptAt),
    sequence: delivery.sequence,
  };
}

function toTimestamp(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
