import {
  ALERT_STATUSES,
  alertSchema,
  CHANNEL_TYPES,
  type ChannelType,
  DELIVERY_STATUSES,
  identifier,
  moment,
  NOTIFICATION_TYPES,
  SEVERITIES,
  timestamp,
} from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { toAlertRecord, toTimestampOrNull } from '../domain/alert.record.ts';
import { COLLECTED, type Delivery, DROPPED, HELD } from '../domain/alert.ts';
import type { AlertUseCases, AlertWithDeliveries } from '../domain/alert.use-cases.ts';
import { mutedBy, toMutedBy } from './mute.schemas.ts';
import { alertParams, ALERTS_PATH } from './schemas.ts';

const TAG = 'Alerts';

const delivery = z
  .object({
    type: z.enum(NOTIFICATION_TYPES),
    channel_id: z.string(),
    channel_type: z.enum(CHANNEL_TYPES),
    status: z.string().meta({
      description:
        '`held`: waits for the end of a silence or maintenance window. `dropped`: never sent, because the alert was ' +
        'resolved before that. `collected`: waits until `next_attempt_at` to be sent in one message with other alerts ' +
        'of its rule. Otherwise the last status reported by the notifier',
      examples: [...DELIVERY_STATUSES, HELD, DROPPED, COLLECTED],
    }),
    attempts: z.int(),
    response_status: z
      .int()
      .nullable()
      .meta({ description: 'HTTP status of the last attempt; null if there was no response' }),
    response_snippet: z.string().nullable(),
    error: z.string().nullable().meta({ description: 'Why the last attempt failed; null if it did not fail' }),
    last_attempt_at: moment.nullable(),
    next_attempt_at: moment.nullable(),
    held: mutedBy.optional().meta({ description: 'What held the message back, also after it was sent; else absent' }),
    group: z
      .object({
        message_id: z.string().meta({ description: 'The `webhook-id` of the message' }),
        alerts: z.int().meta({ description: 'Number of alerts that the message is about' }),
      })
      .optional()
      .meta({
        description:
          'The message about alerts of the rule that are grouped, once it is sent; else absent. The other fields are ' +
          'about that message',
      }),
  })
  .meta({ id: 'AlertDelivery' });
const alertRecord = alertSchema
  .extend({
    deliveries: z.array(delivery),
    silenced_by: mutedBy.optional().meta({
      description:
        'The silence or maintenance window that fits the alert now; absent if there is none, and once it is resolved',
    }),
  })
  .meta({ id: 'Alert' });
const alertPage = z.object({
  items: z.array(alertRecord),
  total: z.int().meta({ description: 'Total number of matching alerts' }),
  limit: z.int(),
  offset: z.int(),
});

const historyQuery = z.object({
  limit: integerQuery({ min: 1, max: 200, default: 50, description: 'Maximum number of alerts in the response' }),
  offset: integerQuery({ min: 0, max: 10_000, default: 0, description: 'Number of alerts to skip' }),
  rule_id: identifier.optional(),
  severity: z.enum(SEVERITIES).optional(),
  status: z.enum(ALERT_STATUSES).optional(),
  from: timestamp.optional().meta({ description: 'Alerts triggered at this time or later' }),
  to: timestamp.optional().meta({ description: 'Alerts triggered before this time' }),
});

/** Alert history and the actions of people on alerts, for admins. Its paths end in a parameter, so register it last. */
export function createAlertRoutes(alerts: AlertUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: ALERTS_PATH,
      operationId: 'listAlerts',
      tag: TAG,
      summary: 'Read alert history, newest first',
      access: 'admin',
      query: historyQuery,
      responses: { 200: { description: 'One page', schema: alertPage } },
      handler: async ({ caller, query }) => {
        const { limit, offset, rule_id: ruleId, severity, status, from, to } = query;
        const triggered = { triggeredFrom: toTime(from), triggeredTo: toTime(to) };
        const page = await alerts.list(caller.tenantId, { limit, offset, ruleId, severity, status, ...triggered });
        return { status: 200, body: { items: page.items.map(toBody), total: page.total, limit, offset } };
      },
    }),
    defineRoute({
      method: 'get',
      path: `${ALERTS_PATH}/{alert_id}`,
      operationId: 'getAlert',
      tag: TAG,
      summary: 'Read an alert',
      access: 'admin',
      params: alertParams,
      responses: { 200: { description: 'The alert', schema: alertRecord } },
      handler: async ({ caller, params }) => {
        const alert = await alerts.get(caller.tenantId, params.alert_id);
        return { status: 200, body: toBody(alert) };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'alert.acknowledge',
      path: `${ALERTS_PATH}/{alert_id}:acknowledge`,
      operationId: 'acknowledgeAlert',
      tag: TAG,
      summary: 'Acknowledge an alert',
      description:
        'Its channels of the types `pagerduty` and `opsgenie` are notified. Acknowledging again changes nothing. 409 if ' +
        'the alert is resolved.',
      access: 'admin',
      params: alertParams,
      responses: { 200: { description: 'The alert as it is now', schema: alertRecord } },
      handler: async ({ caller, params, cause }) => {
        const alert = await alerts.acknowledge(caller.tenantId, params.alert_id, cause);
        return { status: 200, body: toBody(alert) };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'alert.resolve',
      path: `${ALERTS_PATH}/{alert_id}:resolve`,
      operationId: 'resolveAlert',
      tag: TAG,
      summary: 'Resolve an alert',
      description:
        'Its channels are notified. Resolving again changes nothing. An alert also resolves automatically when its condition is no longer met.',
      access: 'admin',
      params: alertParams,
      responses: { 200: { description: 'The alert as it is now', schema: alertRecord } },
      handler: async ({ caller, params, cause }) => {
        const alert = await alerts.resolve(caller.tenantId, params.alert_id, cause);
        return { status: 200, body: toBody(alert) };
      },
    }),
  ];
}

function toBody({ alert, deliveries, silencedBy }: AlertWithDeliveries): z.output<typeof alertRecord> {
  return {
    ...toAlertRecord(alert),
    ...(silencedBy !== null && { silenced_by: toMutedBy(silencedBy) }),
    deliveries: deliveries.map(toDeliveryBody),
  };
}

function toDeliveryBody(outcome: Delivery): z.output<typeof delivery> {
  return {
    type: outcome.type,
    channel_id: outcome.channelId,
    // A newer notifier may report a type that this version does not know.
    channel_type: outcome.channelType as ChannelType,
    status: outcome.status,
    attempts: outcome.attempts,
    response_status: outcome.responseStatus,
    response_snippet: outcome.responseSnippet,
    error: outcome.error,
    last_attempt_at: toTimestampOrNull(outcome.lastAttemptAt),
    next_attempt_at: toTimestampOrNull(outcome.nextAttemptAt),
    ...(outcome.held && { held: toMutedBy(outcome.held) }),
    ...(outcome.group && { group: { message_id: outcome.group.messageId, alerts: outcome.group.alerts } }),
  };
}

function toTime(utc: string | undefined): number | undefined {
  return utc === undefined ? undefined : Date.parse(utc);
}
