import type { z } from 'zod';
import { DELIVERIES_TOPIC, deliverySchema, NOTIFICATIONS_TOPIC, notificationSchema } from './alert-records.ts';
import { GATEWAY_EVENTS_TOPIC, gatewayEventRecords } from './event-record.ts';

/** Both sides of a kind of record. They differ while readers are taught what no writer writes yet. */
export interface RecordContract {
  writes: z.ZodType;
  reads: z.ZodType;
}

/**
 * What stands in the log: for each topic, each kind of record in it. Services of several releases read and write it at
 * once, and records outlive the release that wrote them, so a change is checked against what earlier releases write
 * and read (docs/releases.md). A reader takes a kind that it does not know for `other`, where there is one.
 */
export const LOG_RECORDS: Record<string, Record<string, RecordContract>> = {
  [GATEWAY_EVENTS_TOPIC]: sameBothWays(gatewayEventRecords),
  [NOTIFICATIONS_TOPIC]: sameBothWays({ notification: notificationSchema }),
  [DELIVERIES_TOPIC]: sameBothWays({ delivery: deliverySchema }),
};

function sameBothWays(schemas: Record<string, z.ZodType>): Record<string, RecordContract> {
  return Object.fromEntries(Object.entries(schemas).map(([kind, schema]) => [kind, { writes: schema, reads: schema }]));
}
