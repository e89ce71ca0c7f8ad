import type { z } from 'zod';
import {
  DELIVERIES_TOPIC,
  deliverySchema,
  NOTIFICATIONS_TOPIC,
  notificationSchema,
  readDeliverySchema,
  readNotificationSchema,
} from './alert-records.ts';
import { AUDIT_TOPIC, auditRecordSchema, readAuditRecordSchema } from './audit-records.ts';
import { channelRecordSchemas } from './channel-records.ts';
import { GATEWAY_EVENTS_TOPIC, gatewayEventRecords, readEventRecords } from './event-record.ts';

/** Both sides of a kind of record. Readers accept more: any text that they only display, and values not written yet. */
export interface RecordContract {
  writes: z.ZodType;
  reads: z.ZodType;
}

/**
 * The contents of the log: the kinds of records in each topic. Several releases read and write them at the same time,
 * and records outlive the release that wrote them. So changes are checked against what earlier releases write and read
 * (docs/releases.md). Readers parse unknown kinds as `other` if there is one.
 */
export const LOG_RECORDS: Record<string, Record<string, RecordContract>> = {
  [GATEWAY_EVENTS_TOPIC]: bothWays(gatewayEventRecords, readEventRecords),
  [NOTIFICATIONS_TOPIC]: bothWays({ notification: notificationSchema }, { notification: readNotificationSchema }),
  [DELIVERIES_TOPIC]: bothWays(
    { delivery: deliverySchema, ...channelRecordSchemas },
    { delivery: readDeliverySchema, ...channelRecordSchemas },
  ),
  [AUDIT_TOPIC]: bothWays({ record: auditRecordSchema }, { record: readAuditRecordSchema }),
};

function bothWays<Kind extends string>(
  writes: Record<Kind, z.ZodType>,
  reads: Record<Kind, z.ZodType>,
): Record<string, RecordContract> {
  const kinds = Object.keys(writes) as Kind[];
  return Object.fromEntries(kinds.map((kind) => [kind, { writes: writes[kind], reads: reads[kind] }]));
}
