import { z } from 'zod';
import { MATCHER, MATCHER_HELP } from '../matcher.ts';

/** The version of the format of the files. */
const VERSION = 1;

const text = (maxLength: number) => z.string().max(maxLength);
const name = z.string().min(1).max(120);
const labels = z.record(z.string().max(32), text(128));
const usd = z
  .number()
  .min(0)
  .max(9_007_199_254)
  .refine((value) => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3, {
    error: 'must have at most six decimals',
  })
  .meta({ description: 'US dollars, with up to six decimals' });
const dailyBudget = usd.nullable().meta({ description: 'US dollars per day; null for no daily budget' });
export const ROLES = ['member', 'finance', 'admin', 'owner'] as const;
const role = z.enum(ROLES);

/** Where a secret is. The file itself never has one. */
const secret = z
  .union([
    z.string().regex(/^\$\{[A-Za-z_][A-Za-z0-9_]{0,127}\}$/, {
      error: `must be a reference such as \${OPS_WEBHOOK_URL} or {file: path}, so that no secret is in this file`,
    }),
    z.strictObject({ file: text(1_024).min(1) }),
  ])
  .meta({ description: `A secret: \${NAME} of an environment variable, or {file: path} relative to this file` });
export type SecretReference = z.output<typeof secret>;

const workspace = z.strictObject({
  slug: z.string().regex(/^[a-z0-9](?:-?[a-z0-9]){1,39}$/, { error: 'must have 2 to 40 of a-z, 0-9 and single -' }),
  name: name.optional(),
  timezone: text(64).optional().meta({ description: 'IANA time zone, such as Europe/Berlin' }),
  tracked_labels: z.array(text(32)).max(5).optional(),
  daily_budget_usd: dailyBudget.optional(),
});

const agent = z.strictObject({
  agent_id: text(128).min(1),
  display_name: name.optional().meta({ description: 'The agent_id if it is left out' }),
  labels: labels.default({}),
  daily_budget_usd: dailyBudget.default(null),
});

const plan = z.strictObject({
  plan_key: text(64).min(1),
  display_name: name,
  description: text(1_000).default(''),
  daily_budget_usd: usd,
  is_active: z.boolean().default(true),
});

const period = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['hour', 'day', 'week']) }),
  z.strictObject({ kind: z.literal('month'), start_day: z.int().min(1).max(28).default(1) }),
  z.strictObject({
    kind: z.enum(['quarter', 'year']),
    start_month: z.int().min(1).max(12).default(1),
    start_day: z.int().min(1).max(28).default(1),
  }),
  z.strictObject({
    kind: z.literal('once'),
    start: z.iso.datetime({ offset: true }),
    end: z.iso.datetime({ offset: true }),
  }),
  z.strictObject({ kind: z.literal('rolling'), seconds: z.int().min(3_600).max(2_678_400) }),
]);

const pattern = text(128).meta({ description: 'A value, or the beginning of values followed by *' });
const budget = z.strictObject({
  name: name.meta({ description: 'Unique in the workspace: files know budgets by their names' }),
  description: text(1_000).default(''),
  selector: z
    .strictObject({
      agent: pattern.optional(),
      plan: pattern.optional(),
      model: pattern.optional(),
      provider: pattern.optional(),
      key: pattern.optional(),
      labels: z.record(z.string().max(32), pattern).optional(),
    })
    .default({})
    .meta({ description: 'The calls that count; every call if it is left out' }),
  each: text(64)
    .nullable()
    .default(null)
    .meta({ description: 'Each value of agent, model, label:user … has the limit' }),
  overrides: name.nullable().default(null).meta({ description: 'Name of the budget that this one is an exception to' }),
  period,
  limit_usd: usd,
  action: z.enum(['deny', 'warn']).default('deny'),
  grace_percent: z.int().min(0).max(100).default(0),
  tell_at: z.array(z.int().min(1).max(200)).max(5).nullable().default(null),
  is_active: z.boolean().default(true),
});

const channelFields = { name, enabled: z.boolean().default(true) };
const channel = z.discriminatedUnion('channel_type', [
  z.strictObject({
    ...channelFields,
    channel_type: z.enum(['chat', 'teams']),
    config: z.strictObject({ webhook_url: secret }),
  }),
  z.strictObject({
    ...channelFields,
    channel_type: z.literal('webhook'),
    config: z.strictObject({ url: text(2_048), signing_secret: secret.optional() }),
  }),
  z.strictObject({
    ...channelFields,
    channel_type: z.literal('pagerduty'),
    config: z.strictObject({
      url: text(2_048).default('https://events.pagerduty.com/v2/enqueue'),
      routing_key: secret,
    }),
  }),
  z.strictObject({
    ...channelFields,
    channel_type: z.literal('opsgenie'),
    config: z.strictObject({ url: text(2_048).default('https://api.opsgenie.com/v2/alerts'), api_key: secret }),
  }),
  z.strictObject({
    ...channelFields,
    channel_type: z.literal('email'),
    config: z.strictObject({ addresses: z.array(text(254).min(3).toLowerCase()).min(1).max(20) }),
  }),
]);

const RULE_KINDS = [
  'event_count_gte',
  'first_occurrence',
  'spend_gte',
  'deviation_gte',
  'burn_rate_gte',
  'forecast_gte',
] as const;
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const seconds = z.int().min(0).max(2_592_000);
const channelNames = z.array(name).max(20);
const rule = z.strictObject({
  name: name.meta({ description: 'Unique in the workspace: files know rules by their names' }),
  description: text(1_000).default(''),
  enabled: z.boolean().default(true),
  severity: z.enum(['info', 'low', 'medium', 'high', 'critical']),
  agent: text(128).nullable().default(null).meta({ description: 'Only calls of this agent; null for the workspace' }),
  rule_kind: z.enum(RULE_KINDS),
  window_seconds: seconds
    .min(1)
    .optional()
    .meta({ description: 'Not for deviation_gte, burn_rate_gte and forecast_gte' }),
  threshold: z.int().min(0).max(100_000).default(0).meta({ description: 'Number of events, for event_count_gte' }),
  threshold_usd: usd.default(0).meta({ description: 'US dollars, for spend_gte' }),
  times: z.int().min(0).max(1_000).default(0).meta({ description: 'Multiple of the usual hour, for deviation_gte' }),
  min_usd: usd.default(0).meta({ description: 'US dollars below which deviation_gte does not fire' }),
  budget: text(160)
    .min(1)
    .nullable()
    .default(null)
    .meta({
      description:
        'For burn_rate_gte and forecast_gte: name of the budget, or bud_plan.<plan_key> or bud_agent.<agent_id> for a daily one; ' +
        'null for the daily budget of the agent or the workspace',
    }),
  fraction: z.number().min(0).max(1).default(0).meta({ description: 'Part of the limit, for burn_rate_gte' }),
  long_seconds: seconds.default(0).meta({ description: 'In which the part goes, for burn_rate_gte' }),
  short_seconds: seconds.default(0).meta({ description: 'Burns at the same rate, for burn_rate_gte' }),
  percent: z.int().min(0).max(200).default(0).meta({ description: 'Percentage of the limit, for forecast_gte' }),
  event_types: z.array(text(128)).max(50).default([]),
  percents: z.array(z.int().min(1).max(200)).max(3).default([]),
  labels: z.record(z.string().max(32), pattern).default({}),
  cooldown_seconds: z.int().min(0).max(2_592_000).default(0),
  channels: channelNames.default([]).meta({ description: 'Names of the channels that are notified' }),
  routes: z
    .array(z.strictObject({ label: z.string().min(1).max(32), value: pattern, channels: channelNames.min(1) }))
    .max(20)
    .default([])
    .meta({
      description: 'The channels of alerts by a label of the event they fire with; the first that fits decides',
    }),
  group_seconds: z.int().min(0).max(3600).default(0).meta({
    description: 'How long a message waits for further alerts of the rule; 0: each alert is its own message',
  }),
});

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time from 00:00 to 23:59' });
const maintenanceWindow = z.strictObject({
  name: name.meta({ description: 'Unique in the workspace' }),
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).max(7).meta({ description: 'The days on which it begins' }),
  start: timeOfDay,
  end: timeOfDay.meta({ description: 'On the next day if it is not after start' }),
  time_zone: text(64).meta({ description: 'IANA time zone, such as Europe/Berlin' }),
  matchers: z
    .array(
      z
        .string()
        .max(200)
        .regex(MATCHER, { error: `must be ${MATCHER_HELP}` }),
    )
    .max(10)
    .default([])
    .meta({ description: `The alerts that fit all of them, ${MATCHER_HELP}; every alert if it is left out` }),
  reason: text(200).min(1),
});

const member = z.strictObject({ email: text(254).min(3).toLowerCase(), role });

/** The lists of a document. A list that is left out is not compared and not changed. */
export const sections = {
  agents: z.array(agent).max(10_000).optional(),
  plans: z.array(plan).max(500).optional(),
  budgets: z.array(budget).max(200).optional(),
  channels: z.array(channel).max(100).optional(),
  rules: z.array(rule).max(1_000).optional(),
  maintenance_windows: z.array(maintenanceWindow).max(20).optional(),
  members: z.array(member).max(1_000).optional(),
};

export const documentSchema = z
  .strictObject({ version: z.literal(VERSION), workspace, ...sections })
  .meta({ title: 'Tollkeeper workspace', description: 'A workspace of Tollkeeper, for tollkeeper apply' });

export type WorkspaceEntry = z.output<typeof workspace>;
export type AgentEntry = z.output<typeof agent>;
export type PlanEntry = z.output<typeof plan>;
export type BudgetEntry = z.output<typeof budget>;
export type ChannelEntry = z.output<typeof channel>;
export type RuleEntry = z.output<typeof rule>;
export type MaintenanceEntry = z.output<typeof maintenanceWindow>;
export type MemberEntry = z.output<typeof member>;
export type WorkspaceDocument = z.output<typeof documentSchema>;

/** For editors, as `tollkeeper schema` prints it. */
export function jsonSchema(): object {
  return z.toJSONSchema(documentSchema, { io: 'input', target: 'draft-7' });
}

export const toMicros = (usdAmount: number) => Math.round(usdAmount * 1e6);
export const toUsd = (micros: number) => micros / 1e6;
