import {
  budgetId,
  budgetPercent,
  eventType,
  isCallType,
  labelPatterns,
  micros,
  RULE_KINDS,
  type RuleKind,
  SCOPE_TYPES,
} from '@tollkeeper/contracts';
import { z } from 'zod';
import { BURN_STEPS } from '../domain/burn.condition.ts';
import { MAX_PACE_HOURS } from '../domain/forecast.condition.ts';
import { MAX_COUNTED_MICROS } from '../domain/sum.condition.ts';

/** Thirty days. */
export const MAX_SECONDS = 2_592_000;
const MAX_THRESHOLD = 100_000;
const MAX_TIMES = 1000;
const MAX_PERCENT = 200;
const HOUR_SECONDS = 3600;
const FRACTION = 'must be a part from 0.001 to 1, in steps of 0.001';
const MAX_EVENT_TYPES = 50;
const MAX_PERCENTS = 3;
/** The only type of events with a percentage. */
const OF_PERCENTS = 'budget.threshold_reached';

const windowSeconds = z
  .int()
  .min(1, 'must be above 0')
  .max(MAX_SECONDS)
  .meta({
    description:
      'Length of the window in seconds. For `deviation_gte`, whose window is an hour: 3600 or absent. For ' +
      '`burn_rate_gte`: absent, or `long_seconds`. For `forecast_gte`, whose pace is of a day at most: 86400 or absent',
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
const budget = budgetId.nullable().meta({
  description:
    'For `burn_rate_gte` and `forecast_gte` of a workspace: the budget; null or absent for the daily budget of the workspace or the ' +
    'agent of the rule. For other kinds: null or absent',
});
const fraction = z
  .number()
  .min(0, { error: 'must not be negative', abort: true })
  .max(1, { error: FRACTION, abort: true })
  .refine((value) => Math.abs(value * 1000 - Math.round(value * 1000)) < 1e-9, FRACTION)
  .meta({
    description:
      'For `burn_rate_gte`: the part of the limit that goes within `long_seconds` at the rate that fires the rule, in ' +
      'steps of 0.001. For other kinds: 0 or absent',
    example: 0.25,
  });
const burnSeconds = z.int().min(0, { error: 'must not be negative', abort: true }).max(MAX_SECONDS);
const longSeconds = burnSeconds.meta({
  description:
    'For `burn_rate_gte`: length of the long window, a multiple of 60. It consists of 60 steps. For other kinds: 0 or ' +
    'absent',
  example: 3600,
});
const shortSeconds = burnSeconds.meta({
  description:
    'For `burn_rate_gte`: length of the short window, in which the budget must burn at the same rate: a multiple of ' +
    'a 60th of `long_seconds`, and shorter. For other kinds: 0 or absent',
  example: 300,
});
const forecastPercent = z
  .int()
  .min(0, { error: 'must not be negative', abort: true })
  .max(MAX_PERCENT)
  .meta({
    description:
      'For `forecast_gte`: the percentage of the limit that the period will have spent when the rule fires. For other ' +
      'kinds: 0 or absent',
    example: 100,
  });
const eventTypes = z
  .array(eventType)
  .max(MAX_EVENT_TYPES, `must have at most ${MAX_EVENT_TYPES} types`)
  .meta({
    description:
      'Types of events that the rule counts; empty or absent means all types. For `spend_gte`, `deviation_gte`, ' +
      '`burn_rate_gte` and `forecast_gte`: only `spend.settled`',
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
type ThresholdField = keyof z.output<typeof kindAndThresholds>['rule_config'];

interface KindConfig {
  /** The thresholds that must be above 0; all others must be 0. */
  thresholds: readonly ThresholdField[];
  /** The only type of events that the kind counts; null when the rule names the types. */
  eventType: string | null;
  /** The only window of the kind; null when the rule names it. */
  windowOf: ((config: { long_seconds: number }) => number) | null;
}

export const CONFIGS: Record<RuleKind, KindConfig> = {
  event_count_gte: { thresholds: ['threshold'], eventType: null, windowOf: null },
  first_occurrence: { thresholds: [], eventType: null, windowOf: null },
  spend_gte: { thresholds: ['threshold_micros'], eventType: 'spend.settled', windowOf: null },
  deviation_gte: {
    ...{ thresholds: ['times', 'min_micros'], eventType: 'spend.settled', windowOf: () => HOUR_SECONDS },
  },
  burn_rate_gte: {
    thresholds: ['fraction', 'long_seconds', 'short_seconds'],
    ...{ eventType: 'spend.settled', windowOf: ({ long_seconds: long }) => long },
  },
  forecast_gte: {
    ...{ thresholds: ['percent'], eventType: 'spend.settled', windowOf: () => MAX_PACE_HOURS * HOUR_SECONDS },
  },
};
const THRESHOLDS: Record<ThresholdField, { range: string; of: string }> = {
  threshold: { range: wholeUpTo(MAX_THRESHOLD), of: 'threshold of events' },
  threshold_micros: { range: wholeUpTo(MAX_COUNTED_MICROS), of: 'threshold of spend' },
  times: { range: wholeUpTo(MAX_TIMES), of: 'multiple' },
  min_micros: { range: wholeUpTo(MAX_COUNTED_MICROS), of: 'least spend' },
  fraction: { range: 'a part from 0.001 to 1', of: 'part of a budget' },
  long_seconds: { range: `a multiple of ${BURN_STEPS} up to ${MAX_SECONDS}`, of: 'long window' },
  short_seconds: { range: 'a multiple of a 60th of long_seconds', of: 'short window' },
  percent: { range: wholeUpTo(MAX_PERCENT), of: 'forecast' },
};

function wholeUpTo(max: number): string {
  return `a whole number from 1 to ${max}`;
}

type KindAndConfig = z.output<typeof kindAndThresholds> & z.output<typeof kindAndTypes>;
type KindAndWindow = z.output<typeof kindAndWindow>;
type KindAndBudget = z.output<typeof kindAndBudget>;
type TypesAndLabels = z.output<typeof typesAndLabels>;
type TypesAndPercents = z.output<typeof typesAndPercents>;

export function checkThresholds(
  { rule_kind: kind, rule_config: config }: KindAndConfig,
  { issues }: z.RefinementCtx,
): void {
  for (const field of Object.keys(THRESHOLDS) as ThresholdField[]) {
    const isNeeded = CONFIGS[kind].thresholds.includes(field);
    if (isNeeded === config[field] > 0) continue;
    const { range, of } = THRESHOLDS[field];
    const message = isNeeded
      ? `is required for ${kind}: ${range}`
      : `must be omitted or 0 for ${kind}, which has no ${of}`;
    issues.push({ code: 'custom', input: config[field], path: ['rule_config', field], message });
  }
}

export function checkWindow(
  { rule_kind: kind, rule_config: config }: KindAndWindow,
  { issues }: z.RefinementCtx,
): void {
  const only = CONFIGS[kind].windowOf?.(config) ?? null;
  const { window_seconds: given } = config;
  if (only === null ? given !== undefined : (given ?? only) === only) return;
  const message =
    only === null
      ? `is required for ${kind}: a whole number from 1 to ${MAX_SECONDS}`
      : `must be omitted or ${only} for ${kind}, which has no other window`;
  issues.push({ code: 'custom', input: given, path: ['rule_config', 'window_seconds'], message });
}

const BUDGET_KINDS: Record<RuleKind, boolean> = {
  ...{ event_count_gte: false, first_occurrence: false, spend_gte: false, deviation_gte: false },
  burn_rate_gte: true,
  forecast_gte: true,
};

/** A budget says itself which calls it counts. */
export function checkBudget(rule: KindAndBudget, { issues }: z.RefinementCtx): void {
  const { rule_kind: kind, scope_type: scope, rule_config: config } = rule;
  const { budget_id: id, long_seconds: long, short_seconds: short, filters } = config;
  const refuse = (field: string, input: unknown, message: string) =>
    void issues.push({ code: 'custom', input, path: ['rule_config', ...field.split('.')], message });
  if (!BUDGET_KINDS[kind]) {
    if (id !== null) refuse('budget_id', id, `must be omitted or null for ${kind}, which is not about a budget`);
    return;
  }
  if (id !== null && scope === 'agent') {
    refuse('budget_id', id, 'must be omitted or null for a rule of an agent, which is about its daily budget');
  }
  if (Object.keys(filters.labels).length > 0) {
    refuse('filters.labels', filters.labels, `must be omitted for ${kind}: the budget selects the calls`);
  }
  if (!CONFIGS[kind].thresholds.includes('long_seconds')) return;
  if (long % BURN_STEPS !== 0) return refuse('long_seconds', long, `must be a multiple of ${BURN_STEPS}`);
  const step = long / BURN_STEPS;
  if (short % step !== 0 || short >= long) {
    refuse('short_seconds', short, `must be a multiple of ${step}, a ${BURN_STEPS}th of long_seconds, and shorter`);
  }
}

export function checkTypes({ rule_kind: kind, rule_config: config }: KindAndConfig, { issues }: z.RefinementCtx): void {
  const { eventType: only } = CONFIGS[kind];
  const { event_types: types } = config.filters;
  if (only === null || types.every((type) => type === only)) return;
  const message = `must be omitted or list only ${only} for ${kind}`;
  issues.push({ code: 'custom', input: types, path: ['rule_config', 'filters', 'event_types'], message });
}

export function checkPercents({ rule_config: config }: TypesAndPercents, { issues }: z.RefinementCtx): void {
  const { event_types: types, percents } = config.filters;
  if (percents.length === 0 || (types.length > 0 && types.every((type) => type === OF_PERCENTS))) return;
  const message = `must be omitted unless event_types lists only ${OF_PERCENTS}: no other event has a percent`;
  issues.push({ code: 'custom', input: percents, path: ['rule_config', 'filters', 'percents'], message });
}

export function checkLabels({ rule_config: config }: TypesAndLabels, { issues }: z.RefinementCtx): void {
  const { event_types: types, labels } = config.filters;
  if (Object.keys(labels).length === 0 || types.length === 0 || types.some(isCallType)) return;
  const message = 'must be omitted unless event_types has a type that reports calls: no other event has labels';
  issues.push({ code: 'custom', input: labels, path: ['rule_config', 'filters', 'labels'], message });
}

// The fields that each check reads. The check runs if these are valid, even if others are not, so that one answer lists
// all problems.
export const kindAndThresholds = z.object({
  rule_kind: z.enum(RULE_KINDS),
  rule_config: z.object({
    ...{ threshold, threshold_micros: thresholdMicros, times, min_micros: minMicros },
    ...{ fraction, long_seconds: longSeconds, short_seconds: shortSeconds, percent: forecastPercent },
  }),
});
export const kindAndBudget = z.object({
  rule_kind: z.enum(RULE_KINDS),
  scope_type: z.enum(SCOPE_TYPES),
  rule_config: z.object({
    ...{ budget_id: budget, long_seconds: longSeconds, short_seconds: shortSeconds },
    filters: z.object({ labels }),
  }),
});
export const kindAndWindow = z.object({
  rule_kind: z.enum(RULE_KINDS),
  rule_config: z.object({ window_seconds: windowSeconds.optional(), long_seconds: longSeconds }),
});
export const kindAndTypes = z.object({
  rule_kind: z.enum(RULE_KINDS),
  rule_config: z.object({ filters: z.object({ event_types: eventTypes }) }),
});
export const typesAndPercents = z.object({
  rule_config: z.object({ filters: z.object({ event_types: eventTypes, percents }) }),
});
export const typesAndLabels = z.object({
  rule_config: z.object({ filters: z.object({ event_types: eventTypes, labels }) }),
});

/** The parameters of a condition: those of other kinds are absent. */
export const conditionFields = {
  ...{ window_seconds: windowSeconds.optional(), threshold: threshold.default(0) },
  ...{ threshold_micros: thresholdMicros.default(0), times: times.default(0), min_micros: minMicros.default(0) },
  ...{ budget_id: budget.default(null), fraction: fraction.default(0) },
  ...{ long_seconds: longSeconds.default(0), short_seconds: shortSeconds.default(0) },
  percent: forecastPercent.default(0),
};

/** The same in a patch. */
export const patchedFields = {
  ...{ window_seconds: windowSeconds, threshold, threshold_micros: thresholdMicros, times, min_micros: minMicros },
  ...{ budget_id: budget, fraction, long_seconds: longSeconds, short_seconds: shortSeconds, percent: forecastPercent },
};

export const filterFields = {
  ...{ event_types: eventTypes.default([]), percents: percents.default([]), labels: labels.default({}) },
};
export const patchedFilters = { event_types: eventTypes, percents };
