import { z } from 'zod';
import { budgetThresholdReachedData } from '../event-schemas.ts';
import { budgetId } from './budgets.ts';
import { raiseRequestedData } from '../raise-requested.ts';
import { micros, moment } from './primitives.ts';

/** Severities of an alert, least severe first. */
export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The scope of a rule; `tenant` and `workspace` both mean the whole workspace. */
export const SCOPE_TYPES = ['tenant', 'workspace', 'agent'] as const;
export type ScopeType = (typeof SCOPE_TYPES)[number];

export const RULE_KINDS = [
  'event_count_gte',
  'first_occurrence',
  'spend_gte',
  'deviation_gte',
  'burn_rate_gte',
  'forecast_gte',
] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

/** `firing → acknowledged → resolved`, or `firing → resolved`. */
export const ALERT_STATUSES = ['firing', 'acknowledged', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/**
 * `chat` and `teams`: incoming webhooks; `webhook`: Standard Webhooks; `pagerduty` and `opsgenie`: incident tools;
 * `email`: mail to people.
 */
export const CHANNEL_TYPES = ['chat', 'webhook', 'pagerduty', 'teams', 'opsgenie', 'email'] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** `queued` and `retrying` are in progress, `delivered` and `failed` are final. */
export const DELIVERY_STATUSES = ['queued', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Types of notifications. A channel test is not one: it is sent at once and leaves no trace in the log. */
export const NOTIFICATION_TYPES = ['alert.fired', 'alert.acknowledged', 'alert.resolved'] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

const FIRED_AND_RESOLVED: readonly NotificationType[] = ['alert.fired', 'alert.resolved'];
/** Only incident tools are notified of an acknowledgement, which stops them from calling more people. */
const NOTIFIED_OF: Record<ChannelType, readonly NotificationType[]> = {
  chat: FIRED_AND_RESOLVED,
  webhook: FIRED_AND_RESOLVED,
  teams: FIRED_AND_RESOLVED,
  pagerduty: NOTIFICATION_TYPES,
  opsgenie: NOTIFICATION_TYPES,
  email: FIRED_AND_RESOLVED,
};

/** Whether channels of a type get notifications of this type. A newer notifier may have types that are unknown here. */
export function isNotifiedOf(channelType: string, type: NotificationType): boolean {
  const known = CHANNEL_TYPES.find((each) => each === channelType);
  return (known === undefined ? FIRED_AND_RESOLVED : NOTIFIED_OF[known]).includes(type);
}

/** Whether the type is an incident tool, which has an incident for each alert. */
export function hasIncidents(channelType: string): boolean {
  return isNotifiedOf(channelType, 'alert.acknowledged');
}

/** A threshold of a budget, as a `budget.threshold_reached` event reports it. */
const reachedBudgetSchema = z.object(budgetThresholdReachedData.shape);
export type ReachedBudget = z.infer<typeof reachedBudgetSchema>;

/** The spend of an agent in an hour beside its usual spend. */
const deviationSchema = z.object({
  agent_id: z
    .string()
    .nullable()
    .meta({ description: 'The agent; null for all further agents together if the rule has more than 20' }),
  hour: moment.meta({ description: 'Start of the hour, of UTC' }),
  spent_micros: micros.meta({ description: 'What the agent had spent in the hour, in USD micros' }),
  median_micros: micros.meta({ description: 'Median of the same hour of the week in earlier weeks, in USD micros' }),
  weeks: z.int().meta({ description: 'Number of earlier weeks that the median is of, at most 4' }),
  times: z.int().meta({ description: 'The multiple of the median at which the rule fires' }),
  min_micros: micros.meta({ description: 'The least spend in an hour at which the rule fires, in USD micros' }),
});

/** The budget that a rule fired about. */
const ofBudget = {
  budget_id: budgetId,
  budget_name: z.string(),
  value: z.string().optional().meta({ description: 'The value that the limit is for, if the budget has one for each' }),
  is_of_others: z
    .boolean()
    .optional()
    .meta({ description: 'Whether it is about all further values together, if the budget has more than 20' }),
  limit_micros: micros.meta({ description: 'The limit in USD micros' }),
  period: z
    .object({ kind: z.string().max(32), start: moment, end: moment })
    .nullable()
    .meta({ description: 'The period of the budget; null outside of a period that is once' }),
};

/** A budget that burns too fast. */
const burnSchema = z.object({
  ...ofBudget,
  fraction: z.number().meta({ description: 'The part of the limit that goes within the long window at this rate' }),
  long_seconds: z.int().meta({ description: 'Length of the long window' }),
  short_seconds: z.int().meta({ description: 'Length of the short window' }),
  long_micros: micros.meta({ description: 'Spend in the long window, in USD micros' }),
  short_micros: micros.meta({ description: 'Spend in the short window, in USD micros' }),
});

/** What a budget will have spent. */
const forecastSchema = z.object({
  ...ofBudget,
  percent: z.int().meta({ description: 'The percentage of the limit that fires the rule' }),
  spent_micros: micros.meta({ description: 'Spend in the period, in USD micros, as far as the rule has counted it' }),
  spent_since: moment.meta({
    description: 'Since when: the start of the period, or the time from which the rule counts if that is later',
  }),
  pace_micros: micros.meta({ description: 'Spend since `pace_since`, at whose pace the period goes on' }),
  pace_since: moment,
  weeks: z.int().meta({
    description: 'By how many earlier weeks the pace is weighted: at most 2; 0 if it is the same all the time',
  }),
  forecast_micros: micros.meta({
    description: 'The spend at the end of the period; of a rolling one, the most within its own length from now on',
  }),
  used_up_at: moment.nullable().meta({
    description: 'When the limit will be reached, at the latest now; null if it is not reached within the period',
  }),
});

/**
 * An alert in the history, notifications and deliveries, without `deliveries`. Apart from its status and the fields
 * about it, it stays as it was when the rule fired, even if the rule is edited.
 */
export const alertSchema = z.object({
  id: z.string(),
  tenant_id: z.string(),
  rule_id: z.string(),
  rule_name: z.string(),
  rule_kind: z.enum(RULE_KINDS),
  severity: z.enum(SEVERITIES),
  status: z.enum(ALERT_STATUSES),
  scope_type: z.enum(SCOPE_TYPES),
  scope_id: z.string(),
  event_types: z.array(z.string()).meta({ description: 'Types that the rule counts; empty means every type' }),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .meta({
      description:
        'The rule counts only calls with these labels, in the form of its `filters.labels`; absent without that filter',
      example: { team: 'growth', env: 'prod-*' },
    }),
  window: z.object({ start: moment, end: moment }).meta({
    description:
      'The window in event time when the rule fired: after `start`, up to and including the newest matching event at `end`',
  }),
  threshold: z.int().meta({ description: 'Events; 0 for kinds other than `event_count_gte`' }),
  event_count: z
    .int()
    .meta({ description: 'Number of matching events in the window; counting stops at the threshold' }),
  spend: z
    .object({
      threshold_micros: micros,
      settled_micros: micros.meta({ description: 'Sum settled by the counted events, in USD micros' }),
    })
    .nullable()
    .meta({ description: 'For `spend_gte`; null for other kinds' }),
  budget: reachedBudgetSchema.nullable().meta({
    description: 'The budget threshold that the triggering event reported; null for events of other types',
  }),
  raise: raiseRequestedData
    .optional()
    .meta({ description: 'The request for a raise that the triggering event is; absent for events of other types' }),
  burn: burnSchema.optional().meta({ description: 'For `burn_rate_gte`; absent for other kinds' }),
  forecast: forecastSchema.optional().meta({ description: 'For `forecast_gte`; absent for other kinds' }),
  deviation: deviationSchema.optional().meta({ description: 'For `deviation_gte`; absent for other kinds' }),
  sample_event_ids: z
    .array(z.string())
    .max(10)
    .meta({ description: 'Ids of the newest matching events, newest first' }),
  first_event_at: moment.meta({ description: 'Time of the oldest event counted' }),
  last_event_at: moment.meta({ description: 'Time of the newest event counted' }),
  triggered_at: moment.meta({ description: 'Time of the event that fired the rule' }),
  acknowledged_at: moment.nullable(),
  acknowledged_by: z.string().nullable().meta({ description: 'Id of the user' }),
  resolved_at: moment.nullable(),
});

/** An alert in its wire form: snake case, RFC 3339 UTC with milliseconds. */
export type AlertRecord = z.infer<typeof alertSchema>;
