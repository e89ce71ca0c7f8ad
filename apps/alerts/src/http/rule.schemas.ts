import {
  budgetPercent,
  displayName,
  eventType,
  identifier,
  isCallType,
  labelName,
  labelPatterns,
  micros,
  moment,
  RULE_KINDS,
  type RuleKind,
  SCOPE_TYPES,
  SEVERITIES,
} from '@tollkeeper/contracts';
import { patchShape } from '@tollkeeper/http';
import { z } from 'zod';
import { MAX_RULE_CHANNELS, type Rule, type RuleDraft } from '../domain/rule.ts';
import { MAX_COUNTED_MICROS } from '../domain/sum.condition.ts';
import { conditionOf, thresholdsOf } from '../domain/rule-kinds.ts';

/** Thirty days. */
const MAX_SECONDS = 2_592_000;
const MAX_THRESHOLD = 100_000;
const MAX_TIMES = 1000;
const HOUR_SECONDS = 3600;
const MAX_EVENT_TYPES = 50;
const MAX_PERCENTS = 3;
/** The only type of events with a percentage. */
const OF_PERCENTS = 'budget.threshold_reached';

const description = z.string().max(1000, 'must be at most 1000 characters');
const windowSeconds = z.int().min(1, 'must be above 0').max(MAX_SECONDS).meta({
  description: 'Length of the window in seconds. For `deviation_gte`, whose window is an hour: 3600 or absent',
  example: 300,
});
const threshold = z.int().min(0, { error: 'must not be negative', abort: true }).max(MAX_THRESHOLD).meta({
  description: 'For `event_count_gte`: how many events fire the rule. For other kinds: 0 or absent',
  example: 10,
});
const thresholdMicros = micros.max(MAX_COUNTED_MICROS).meta({
  description: 'For `spend_gte`: how many settled USD micros fire the rule. For other kinds: 0 or absent',
  example: 50_000_000,
});
const times = z
  .int()
  .min(0, { error: 'must not be negative', abort: true })
  .max(MAX_TIMES)
  .meta({
    description:
      'For `deviation_gte`: at which multiple of the median of the same hour of the last four weeks the rule fires. For ' +
      'other kinds: 0 or absent',
    example: 3,
  });
const minMicros = micros.max(MAX_COUNTED_MICROS).meta({
  description:
    'For `deviation_gte`: below this many USD micros in an hour, the rule does not fire. For other kinds: 0 or absent',
  example: 1_000_000,
});
const eventTypes = z.array(eventType).max(MAX_EVENT_TYPES, `must have at most ${MAX_EVENT_TYPES} types`).meta({
  description:
    'Types of events that the rule counts; empty or absent means all types. For `spend_gte` and `deviation_gte`: only `spend.settled`',
});
const percents = z
  .array(budgetPercent)
  .max(MAX_PERCENTS, `must have at most ${MAX_PERCENTS} percents`)
  .refine((all) => new Set(all).size === all.length, 'must not repeat a percent')
  .meta({
    description:
      'The rule counts only events of a budget reaching one of these percents; empty or absent means any. Needs ' +
      '`event_types` with only `budget.threshold_reached`',
    example: [80],
  });
const labels = labelPatterns.meta({
  description:
    'The rule counts only calls with these labels, all of them: each value is exact, or a prefix followed by `*`. ' +
    'Empty or absent means all events. Needs `event_types` with a type that reports calls, or none: other events have ' +
    'no labels',
  example: { team: 'growth' },
});
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
};

type ThresholdField = 'threshold' | 'threshold_micros' | 'times' | 'min_micros';

interface KindConfig {
  /** The thresholds that must be above 0; all others must be 0. */
  thresholds: readonly ThresholdField[];
  /** The only type of events that the kind counts; null when the rule names the types. */
  eventType: string | null;
  /** The only window of the kind; null when the rule names it. */
  windowSeconds: number | null;
}

const CONFIGS: Record<RuleKind, KindConfig> = {
  event_count_gte: { thresholds: ['threshold'], eventType: null, windowSeconds: null },
  first_occurrence: { thresholds: [], eventType: null, windowSeconds: null },
  spend_gte: { thresholds: ['threshold_micros'], eventType: 'spend.settled', windowSeconds: null },
  deviation_gte: { thresholds: ['times', 'min_micros'], eventType: 'spend.settled', windowSeconds: HOUR_SECONDS },
};
const THRESHOLDS: Record<ThresholdField, { max: number; of: string }> = {
  threshold: { max: MAX_THRESHOLD, of: 'events' },
  threshold_micros: { max: MAX_COUNTED_MICROS, of: 'spend' },
  times: { max: MAX_TIMES, of: 'a multiple' },
  min_micros: { max: MAX_COUNTED_MICROS, of: 'spend in an hour' },
};

type KindAndConfig = z.output<typeof kindAndThresholds> & z.output<typeof kindAndTypes>;
type KindAndWindow = z.output<typeof kindAndWindow>;
type TypesAndLabels = z.output<typeof typesAndLabels>;
type TypesAndPercents = z.output<typeof typesAndPercents>;

function checkThresholds({ rule_kind: kind, rule_config: config }: KindAndConfig, { issues }: z.RefinementCtx): void {
  for (const field of Object.keys(THRESHOLDS) as ThresholdField[]) {
    const isNeeded = CONFIGS[kind].thresholds.includes(field);
    if (isNeeded === config[field] > 0) continue;
    const { max, of } = THRESHOLDS[field];
    const message = isNeeded
      ? `is required for ${kind}: a whole number from 1 to ${max}`
      : `must be omitted or 0 for ${kind}, which has no threshold of ${of}`;
    issues.push({ code: 'custom', input: config[field], path: ['rule_config', field], message });
  }
}

function checkWindow({ rule_kind: kind, rule_config: config }: KindAndWindow, { issues }: z.RefinementCtx): void {
  const { windowSeconds: only } = CONFIGS[kind];
  const { window_seconds: given } = config;
  if (only === null ? given !== undefined : (given ?? only) === only) return;
  const message =
    only === null
      ? `is required for ${kind}: a whole number from 1 to ${MAX_SECONDS}`
      : `must be omitted or ${only} for ${kind}, which has no other window`;
  issues.push({ code: 'custom', input: given, path: ['rule_config', 'window_seconds'], message });
}

function checkTypes({ rule_kind: kind, rule_config: config }: KindAndConfig, { issues }: z.RefinementCtx): void {
  const { eventType: only } = CONFIGS[kind];
  const { event_types: types } = config.filters;
  if (only === null || types.every((type) => type === only)) return;
  const message = `must be omitted or list only ${only} for ${kind}`;
  issues.push({ code: 'custom', input: types, path: ['rule_config', 'filters', 'event_types'], message });
}

function checkPercents({ rule_config: config }: TypesAndPercents, { issues }: z.RefinementCtx): void {
  const { event_types: types, percents } = config.filters;
  if (percents.length === 0 || (types.length > 0 && types.every((type) => type === OF_PERCENTS))) return;
  const message = `must be omitted unless event_types lists only ${OF_PERCENTS}: no other event has a percent`;
  issues.push({ code: 'custom', input: percents, path: ['rule_config', 'filters', 'percents'], message });
}

function checkLabels({ rule_config: config }: TypesAndLabels, { issues }: z.RefinementCtx): void {
  const { event_types: types, labels } = config.filters;
  if (Object.keys(labels).length === 0 || types.length === 0 || types.some(isCallType)) return;
  const message = 'must be omitted unless event_types has a type that reports calls: no other event has labels';
  issues.push({ code: 'custom', input: labels, path: ['rule_config', 'filters', 'labels'], message });
}

// The fields that each check reads. The check runs if these are valid, even if others are not, so that one answer lists
// all problems.
const kindAndThresholds = z.object({
  rule_kind: required.rule_kind,
  rule_config: z.object({ threshold, threshold_micros: thresholdMicros, times, min_micros: minMicros }),
});
const kindAndWindow = z.object({
  rule_kind: required.rule_kind,
  rule_config: z.object({ window_seconds: windowSeconds.optional() }),
});
const kindAndTypes = z.object({
  rule_kind: required.rule_kind,
  rule_config: z.object({ filters: z.object({ event_types: eventTypes }) }),
});
const typesAndPercents = z.object({
  rule_config: z.object({ filters: z.object({ event_types: eventTypes, percents }) }),
});
const typesAndLabels = z.object({
  rule_config: z.object({ filters: z.object({ event_types: eventTypes, labels }) }),
});

/** A complete rule, as people send it. */
export const ruleBody = z
  .strictObject({
    ...required,
    description: description.default(''),
    enabled: z.boolean().default(true),
    rule_config: z.strictObject({
      window_seconds: windowSeconds.optional(),
      threshold: threshold.default(0),
      threshold_micros: thresholdMicros.default(0),
      times: times.default(0),
      min_micros: minMicros.default(0),
      filters: z
        .strictObject({
          event_types: eventTypes.default([]),
          percents: percents.default([]),
          labels: labels.default({}),
        })
        .prefault({ event_types: [] }),
    }),
    cooldown_seconds: cooldownSeconds.default(0),
    channel_config_ids: channelIds.default([]),
  })
  .superRefine(checkThresholds, { when: ({ value }) => kindAndThresholds.safeParse(value).success })
  .superRefine(checkWindow, { when: ({ value }) => kindAndWindow.safeParse(value).success })
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
          window_seconds: windowSeconds,
          threshold,
          threshold_micros: thresholdMicros,
          times,
          min_micros: minMicros,
          filters: z.strictObject(
            patchShape({
              event_types: eventTypes,
              percents,
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
      filters: z.object({
        event_types: z.array(z.string()),
        percents: z.array(z.int()),
        labels: z.record(z.string(), z.string()),
      }),
    }),
    cooldown_seconds: z.int(),
    channel_config_ids: z.array(z.string()),
    created_at: moment,
    updated_at: moment,
    last_fired_at: moment.nullable().meta({ description: 'Event time when the rule last fired, or null' }),
  })
  .meta({ id: 'AlertRule' });

export function toDraft(body: z.output<typeof ruleBody>): RuleDraft {
  const { eventType, windowSeconds: only } = CONFIGS[body.rule_kind];
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
    }),
    windowSeconds: only ?? body.rule_config.window_seconds!,
    eventTypes: eventType === null ? body.rule_config.filters.event_types : [eventType],
    percents: body.rule_config.filters.percents,
    labels: body.rule_config.filters.labels,
    cooldownSeconds: body.cooldown_seconds,
    channelIds: body.channel_config_ids,
  };
}

/** The editable part of a rule. */
export function fromDraft(rule: RuleDraft): z.output<typeof ruleBody> {
  const { threshold, thresholdMicros, times = 0, minMicros = 0 } = thresholdsOf(rule.condition);
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
      filters: { event_types: rule.eventTypes, percents: rule.percents, labels: rule.labels },
    },
    cooldown_seconds: rule.cooldownSeconds,
    channel_config_ids: rule.channelIds,
  };
}

export function toRuleRecord(rule: Rule): z.output<typeof ruleRecord> {
  const { rule_config, ...draft } = fromDraft(rule);
  const { times, min_micros, ...config } = rule_config;
  return {
    id: rule.id,
    tenant_id: rule.tenantId,
    ...draft,
    rule_config: {
      ...config,
      window_seconds: rule.windowSeconds,
      ...(times > 0 && { times }),
      ...(min_micros > 0 && { min_micros }),
    },
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
    last_fired_at: rule.lastFiredAt?.toISOString() ?? null,
  };
}
