import {
  displayName,
  identifier,
  labelName,
  micros,
  moment,
  RULE_KINDS,
  SCOPE_TYPES,
  SEVERITIES,
} from '@tollkeeper/contracts';
import { patchShape } from '@tollkeeper/http';
import { z } from 'zod';
import { conditionOf, thresholdsOf } from '../domain/rule-kinds.ts';
import { MAX_ROUTES, MAX_RULE_CHANNELS, type Rule, type RuleDraft } from '../domain/rule.ts';
import {
  checkBudget,
  checkLabels,
  checkPercents,
  checkThresholds,
  checkTypes,
  checkWindow,
  conditionFields,
  CONFIGS,
  filterFields,
  kindAndBudget,
  kindAndThresholds,
  kindAndTypes,
  kindAndWindow,
  MAX_SECONDS,
  patchedFields,
  patchedFilters,
  typesAndLabels,
  typesAndPercents,
} from './rule.config.ts';

const description = z.string().max(1000, 'must be at most 1000 characters');
const cooldownSeconds = z
  .int()
  .min(0, 'must not be negative')
  .max(MAX_SECONDS)
  .meta({ description: 'Seconds of event time after firing during which the rule does not fire again' });
const channelIds = z
  .array(identifier)
  .max(MAX_RULE_CHANNELS, `must have at most ${MAX_RULE_CHANNELS} channels`)
  .refine((ids) => new Set(ids).size === ids.length, 'must not repeat a channel')
  .meta({ description: 'Ids of the channels that are notified when the rule fires' });

const route = z.strictObject({
  label: labelName,
  value: z
    .string()
    .min(1, 'must not be empty')
    .max(128, 'must be at most 128 characters')
    .meta({ description: 'A value, or the beginning of values followed by `*`', example: 'growth' }),
  channel_ids: channelIds.min(1, 'must have a channel'),
});
const routes = z
  .array(route)
  .max(MAX_ROUTES, `must have at most ${MAX_ROUTES} routes`)
  .meta({
    description:
      'An alert goes to the channels of the first route whose label the event has that the rule fired with. If there is ' +
      'none, it goes to `channel_config_ids`. A route whose channels are all deleted is removed',
  });

/** Nobody waits longer to learn of an alert. */
const MAX_GROUP_SECONDS = 3600;
const groupSeconds = z
  .int()
  .min(0, 'must not be negative')
  .max(MAX_GROUP_SECONDS, `must be at most ${MAX_GROUP_SECONDS}, an hour`)
  .meta({
    description:
      'A message about an alert waits this long, and is then about all alerts of the rule that fired meanwhile: it names ' +
      'the first 11 and counts the others. 0: each alert is its own message, sent at once. Channels of the types ' +
      '`pagerduty` and `opsgenie` always get each alert at once, as its own incident. Requests for raises are never grouped',
  });

const required = {
  name: displayName.meta({ example: 'Many blocked calls' }),
  severity: z.enum(SEVERITIES),
  scope_type: z.enum(SCOPE_TYPES).meta({ description: '`tenant` and `workspace` both mean the whole workspace' }),
  scope_id: identifier.meta({ description: 'Id of the workspace, or of the agent' }),
  rule_kind: z.enum(RULE_KINDS),
};
const optional = {
  description,
  enabled: z.boolean(),
  cooldown_seconds: cooldownSeconds,
  channel_config_ids: channelIds,
  routes,
  group_seconds: groupSeconds,
};

/** A complete rule, as people send it. */
export const ruleBody = z
  .strictObject({
    ...required,
    description: description.default(''),
    enabled: z.boolean().default(true),
    rule_config: z.strictObject({
      ...conditionFields,
      filters: z.strictObject(filterFields).prefault({ event_types: [] }),
    }),
    cooldown_seconds: cooldownSeconds.default(0),
    channel_config_ids: channelIds.default([]),
    routes: routes.default([]),
    group_seconds: groupSeconds.default(0),
  })
  .superRefine(checkThresholds, { when: ({ value }) => kindAndThresholds.safeParse(value).success })
  .superRefine(checkWindow, { when: ({ value }) => kindAndWindow.safeParse(value).success })
  .superRefine(checkBudget, { when: ({ value }) => kindAndBudget.safeParse(value).success })
  .superRefine(checkTypes, { when: ({ value }) => kindAndTypes.safeParse(value).success })
  .superRefine(checkPercents, { when: ({ value }) => typesAndPercents.safeParse(value).success })
  .superRefine(checkLabels, { when: ({ value }) => typesAndLabels.safeParse(value).success })
  .meta({ id: 'AlertRuleInput' });

export const rulePatch = z
  .strictObject(
    patchShape({
      ...required,
      ...optional,
      rule_config: z.strictObject(
        patchShape({
          ...patchedFields,
          filters: z.strictObject(
            patchShape({
              ...patchedFilters,
              labels: z.record(labelName, z.string().max(128).nullable()),
            }),
          ),
        }),
      ),
    }),
  )
  .meta({ id: 'AlertRulePatch', description: 'A JSON Merge Patch (RFC 7396) of a rule' });

export const ruleRecord = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    severity: required.severity,
    scope_type: required.scope_type,
    scope_id: z.string(),
    rule_kind: required.rule_kind,
    rule_config: z.object({
      window_seconds: z.int(),
      threshold: z
        .int()
        .meta({ description: 'For `event_count_gte`: how many events fire the rule. For other kinds: 0' }),
      threshold_micros: micros.meta({
        description: 'For `spend_gte`: how many settled USD micros fire the rule. For other kinds: 0',
      }),
      times: z.int().optional().meta({
        description: 'For `deviation_gte`: at which multiple of the median the rule fires. For other kinds: absent',
      }),
      min_micros: micros.optional().meta({
        description:
          'For `deviation_gte`: below this many USD micros in an hour, the rule does not fire. For other kinds: absent',
      }),
      budget_id: z.string().optional().meta({
        description:
          'For `burn_rate_gte` and `forecast_gte`: the budget; absent for the daily budget of the scope, and for other kinds',
      }),
      fraction: z.number().optional().meta({
        description:
          'For `burn_rate_gte`: the part of the limit that goes within `long_seconds`. For other kinds: absent',
      }),
      long_seconds: z.int().optional().meta({ description: 'Only of `burn_rate_gte`: length of the long window' }),
      short_seconds: z.int().optional().meta({ description: 'Only of `burn_rate_gte`: length of the short window' }),
      percent: z.int().optional().meta({ description: 'Only of `forecast_gte`: the percentage of the limit' }),
      filters: z.object({
        event_types: z.array(z.string()),
        percents: z.array(z.int()),
        labels: z.record(z.string(), z.string()),
      }),
    }),
    cooldown_seconds: z.int(),
    channel_config_ids: z.array(z.string()),
    routes: z
      .array(z.object({ label: z.string(), value: z.string(), channel_ids: z.array(z.string()) }))
      .optional()
      .meta({
        description: 'In order; absent without routes',
      }),
    group_seconds: z.int().optional().meta({ description: 'Absent if each alert is its own message' }),
    created_at: moment,
    updated_at: moment,
    last_fired_at: moment.nullable().meta({ description: 'Event time when the rule last fired, or null' }),
  })
  .meta({ id: 'AlertRule' });

export function toDraft(body: z.output<typeof ruleBody>): RuleDraft {
  const { eventType, windowOf } = CONFIGS[body.rule_kind];
  return {
    name: body.name,
    description: body.description,
    enabled: body.enabled,
    severity: body.severity,
    scopeType: body.scope_type,
    scopeId: body.scope_id,
    condition: conditionOf(body.rule_kind, {
      threshold: body.rule_config.threshold,
      thresholdMicros: body.rule_config.threshold_micros,
      times: body.rule_config.times,
      minMicros: body.rule_config.min_micros,
      budgetId: body.rule_config.budget_id,
      permille: Math.round(body.rule_config.fraction * 1000),
      longSeconds: body.rule_config.long_seconds,
      shortSeconds: body.rule_config.short_seconds,
      percent: body.rule_config.percent,
    }),
    windowSeconds: windowOf?.(body.rule_config) ?? body.rule_config.window_seconds!,
    eventTypes: eventType === null ? body.rule_config.filters.event_types : [eventType],
    percents: body.rule_config.filters.percents,
    labels: body.rule_config.filters.labels,
    cooldownSeconds: body.cooldown_seconds,
    channelIds: body.channel_config_ids,
    routes: body.routes.map(({ channel_ids, ...labelled }) => ({ ...labelled, channelIds: channel_ids })),
    groupSeconds: body.group_seconds,
  };
}

/** The editable part of a rule. */
export function fromDraft(rule: RuleDraft): z.output<typeof ruleBody> {
  const { threshold, thresholdMicros, times = 0, minMicros = 0, ...ofBudget } = thresholdsOf(rule.condition);
  return {
    name: rule.name,
    description: rule.description,
    enabled: rule.enabled,
    severity: rule.severity,
    scope_type: rule.scopeType,
    scope_id: rule.scopeId,
    rule_kind: rule.condition.kind,
    rule_config: {
      window_seconds: rule.windowSeconds,
      threshold,
      threshold_micros: thresholdMicros,
      times,
      min_micros: minMicros,
      budget_id: ofBudget.budgetId ?? null,
      fraction: (ofBudget.permille ?? 0) / 1000,
      long_seconds: ofBudget.longSeconds ?? 0,
      short_seconds: ofBudget.shortSeconds ?? 0,
      percent: ofBudget.percent ?? 0,
      filters: { event_types: rule.eventTypes, percents: rule.percents, labels: rule.labels },
    },
    cooldown_seconds: rule.cooldownSeconds,
    channel_config_ids: rule.channelIds,
    routes: rule.routes.map(({ label, value, channelIds: channel_ids }) => ({ label, value, channel_ids })),
    group_seconds: rule.groupSeconds,
  };
}

export function toRuleRecord(rule: Rule): z.output<typeof ruleRecord> {
  const { rule_config, routes: made, group_seconds, ...draft } = fromDraft(rule);
  const { times, min_micros, budget_id, fraction, long_seconds, short_seconds, percent, ...config } = rule_config;
  return {
    id: rule.id,
    tenant_id: rule.tenantId,
    ...draft,
    ...(made.length > 0 && { routes: made }),
    ...(group_seconds > 0 && { group_seconds }),
    rule_config: {
      ...config,
      window_seconds: rule.windowSeconds,
      ...(times > 0 && { times }),
      ...(min_micros > 0 && { min_micros }),
      ...(budget_id !== null && { budget_id }),
      ...(fraction > 0 && { fraction, long_seconds, short_seconds }),
      ...(percent > 0 && { percent }),
    },
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
    last_fired_at: rule.lastFiredAt?.toISOString() ?? null,
  };
}
