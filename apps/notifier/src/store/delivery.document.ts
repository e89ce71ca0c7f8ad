import type { AlertGroup, DeliveryStatus, ReadNotification, ShownAlert } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { Schema } from 'mongoose';
import { type Delivery, type DeliveryState, queuedState, type TraceContext } from '../domain/delivery.ts';

/** The worker of a delivery, and until when no other worker may take it. */
interface Lease {
  owner: string;
  until: Date;
}

export interface DeliveryDocument {
  /** The notification id: one delivery per notification. */
  _id: string;
  type: string;
  tenantId: string;
  channelId: string;
  channelType: string;
  alert: ShownAlert;
  /** Only if the rule groups its alerts. */
  group?: AlertGroup<ShownAlert>;
  occurredAt: Date;
  trace?: TraceContext | undefined;
  storedAt: Date;
  offset: number;
  status: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  responseSnippet: string | null;
  error: string | null;
  lastAttemptAt: Date | null;
  /**
   * Determines its place among the deliveries of its channel. Only unfinished deliveries have it, so the indexes on it
   * stay as small as the queue.
   */
  nextAttemptAt?: Date;
  /**
   * For the delivery that put its channel on hold: the real time of its next attempt. It keeps its place in the channel
   * meanwhile.
   */
  heldUntil?: Date;
  sequence: number;
  lease?: Lease;
  /** Set until the state is reported to alerts. */
  unpublished?: true;
  finishedAt?: Date;
}

/**
 * Finished deliveries are kept longer than the log keeps their notifications, so that no notification is stored twice.
 */
const RETENTION_SECONDS = 14 * 86_400;

/** This index finds the first due delivery of each channel without reading later ones. */
export const DUE_BY_CHANNEL = 'due_by_channel';

const required = true;

export const deliverySchema = new Schema<DeliveryDocument>(
  {
    _id: { type: String, required },
    type: { type: String, required },
    tenantId: { type: String, required },
    channelId: { type: String, required },
    channelType: { type: String, required },
    alert: { type: Schema.Types.Mixed, required },
    group: Schema.Types.Mixed,
    occurredAt: { type: Date, required },
    trace: { traceparent: String, tracestate: String },
    storedAt: { type: Date, required },
    offset: { type: Number, required },
    status: { type: String, required },
    attempts: { type: Number, required },
    responseStatus: Number,
    responseSnippet: String,
    error: String,
    lastAttemptAt: Date,
    nextAttemptAt: Date,
    heldUntil: Date,
    sequence: { type: Number, required },
    lease: { owner: String, until: Date },
    unpublished: Boolean,
    finishedAt: Date,
  },
  { collection: 'deliveries', versionKey: false },
);
const open = { partialFilterExpression: { nextAttemptAt: { $exists: true } } };
deliverySchema.index({ channelId: 1, nextAttemptAt: 1, offset: 1 }, { ...open, name: DUE_BY_CHANNEL });
deliverySchema.index({ 'alert.id': 1, channelId: 1, offset: 1 }, open);
deliverySchema.index(
  { 'alert.rule_id': 1, channelId: 1, offset: 1 },
  { partialFilterExpression: { nextAttemptAt: { $exists: true }, group: { $exists: true } } },
);
deliverySchema.index({ storedAt: 1 }, open);
// Each channel has one attempt at a time, across all replicas.
deliverySchema.index(
  { channelId: 1 },
  { unique: true, partialFilterExpression: { 'lease.until': { $exists: true } }, name: 'one_lease_for_each_channel' },
);
deliverySchema.index({ 'lease.until': 1 }, { partialFilterExpression: { 'lease.until': { $exists: true } } });
deliverySchema.index({ unpublished: 1, lastAttemptAt: 1 }, { partialFilterExpression: { unpublished: true } });
deliverySchema.index({ finishedAt: 1 }, { expireAfterSeconds: RETENTION_SECONDS });

/** A notification and its place in the log. */
export interface StoredNotification {
  notification: ReadNotification;
  offset: number;
  trace?: TraceContext | undefined;
}

/** A new notification. */
export function fromNotification(
  { notification, offset, trace }: StoredNotification,
  storedAt: number,
): DeliveryDocument {
  const { notificationId, type, tenantId, channelId, alert, group, occurredAt } = notification;
  return {
    ...{ _id: notificationId, type, tenantId, channelId, alert, offset, sequence: 0 },
    ...(group !== undefined && { group }),
    occurredAt: new Date(occurredAt),
    storedAt: new Date(storedAt),
    nextAttemptAt: new Date(storedAt),
    ...(trace !== undefined && { trace }),
    ...fromState(queuedState(notification, storedAt)),
  };
}

/** The fields of a state, without the place in the channel. */
export function fromState(state: DeliveryState) {
  const { status, channelType, attempts, responseStatus, responseSnippet, error } = state;
  return {
    ...{ status, channelType, attempts, responseStatus, responseSnippet, error },
    lastAttemptAt: state.lastAttemptAt === null ? null : new Date(state.lastAttemptAt),
  };
}

export function toDelivery(document: DeliveryDocument): Delivery {
  const { _id, type, tenantId, channelId, channelType, alert, group, occurredAt } = document;
  const { trace, offset, sequence, status, attempts, responseStatus, responseSnippet, error } = document;
  return {
    notification: {
      ...{ notificationId: _id, type, tenantId: provenTenantId(tenantId), channelId, channelType, alert, group },
      occurredAt: occurredAt.toISOString(),
    },
    trace,
    ...{ offset, sequence, status, channelType, attempts, responseStatus, responseSnippet, error },
    lastAttemptAt: document.lastAttemptAt?.getTime() ?? null,
    nextAttemptAt: (document.heldUntil ?? document.nextAttemptAt)?.getTime() ?? null,
  };
}
