import { BUDGET_PERIODS, type BudgetPeriod, CALENDAR_PERIODS, IDENTIFIER } from '@tollkeeper/kernel';
import { z } from 'zod';
import { LABEL_NAME, labelName, type Labels, labelValue, MAX_LABELS } from './labels.ts';
import { identifier, micros, planKey, timestamp } from './primitives.ts';

/** The scopes of a daily budget. */
export const BUDGET_SCOPES = ['workspace', 'agent', 'plan'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Also of the limits of budgets that have a selector. */
export const LIMIT_SCOPES = [...BUDGET_SCOPES, 'budget'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** `bud_…`; of daily budgets `bud_workspace`, or `bud_agent.` or `bud_plan.` and the id of the agent or plan. */
export const budgetId = z
  .string()
  .regex(
    /^bud_[A-Za-z0-9._:-]{1,140}$/,
    'must be the id of a budget: bud_workspace, bud_agent.AGENT_ID, bud_plan.PLAN_KEY, or an id of GET /api/v1/budgets',
  )
  .meta({ example: 'bud_4fG0aZ8kQ2mN6pR1tV5x' });

/** The id of a daily budget. */
export function dailyBudgetId(scope: BudgetScope, scopeId: string): string {
  return DAILY_IDS[scope](scopeId);
}

const DAILY_IDS: Record<BudgetScope, (scopeId: string) => string> = {
  workspace: () => 'bud_workspace',
  agent: (agentId) => `bud_agent.${agentId}`,
  plan: (planKey) => `bud_plan.${planKey}`,
};

const DAILY_KEYS: Record<BudgetScope, z.ZodType> = { workspace: z.literal(''), agent: identifier, plan: planKey };

/**
 * What the daily budget with the id is for: an `agent_id` or a `plan_key`, and `''` for the workspace. Null for any
 * other id.
 */
export function dailyBudgetOf(id: string): { scope: BudgetScope; key: string } | null {
  for (const scope of BUDGET_SCOPES) {
    const start = dailyBudgetId(scope, '');
    const key = id.slice(start.length);
    if (id.startsWith(start) && DAILY_KEYS[scope].safeParse(key).success) return { scope, key };
  }
  return null;
}

/** What is known of a call, by which budgets select it. Null for what is not known. */
export interface BudgetedCall {
  agent: string;
  plan: string | null;
  model: string | null;
  provider: string | null;
  /** Id of the workspace key. */
  key: string | null;
  labels: Labels;
}

export const BUDGET_DIMENSIONS = ['agent', 'plan', 'model', 'provider', 'key'] as const satisfies readonly Exclude<
  keyof BudgetedCall,
  'labels'
>[];
export type BudgetDimension = (typeof BUDGET_DIMENSIONS)[number];

/** Values that a call must have: each is exact, or a prefix followed by `*`. Empty for every call. */
export type BudgetSelector = { readonly [Dimension in BudgetDimension]?: string | undefined } & {
  readonly labels?: Labels | undefined;
};

/** That of which each value has a limit of its own. */
export type BudgetEach = BudgetDimension | `label:${string}`;

/** That of which a value can be paused: its calls are denied. */
export type PauseScope = Extract<BudgetEach, 'agent' | 'key' | `label:${string}`>;
/** The scopes of pauses, with all labels as one. */
export type PauseKind = Exclude<PauseScope, `label:${string}`> | 'label';

/** Maximum number of pauses of a workspace that have not ended. */
export const MAX_PAUSES = 100;

/** Null if the text is no scope of pauses, or one of a newer version. */
export function toPauseScope(text: string): PauseScope | null {
  const known = (['agent', 'key'] as const).find((scope) => scope === text);
  const isKnownLabel = text.startsWith(LABEL) && labelName.safeParse(text.slice(LABEL.length)).success;
  return known ?? (isKnownLabel ? (text as PauseScope) : null);
}

/** The kind of the scope, and the name of the label if it is one. */
export function pauseKindOf(scope: PauseScope): { kind: PauseKind; label: string } {
  return isLabel(scope) ? { kind: 'label', label: scope.slice(LABEL.length) } : { kind: scope, label: '' };
}

/** Whether the call has all that the selector asks for. */
export function isSelected(selector: BudgetSelector, call: BudgetedCall): boolean {
  for (const dimension of BUDGET_DIMENSIONS) {
    const pattern = selector[dimension];
    if (pattern !== undefined && !matches(pattern, call[dimension])) return false;
  }
  return selector.labels === undefined || haveLabels(call.labels, selector.labels);
}

/** Whether the labels have a value for each pattern: see {@link labelPatterns}. */
export function haveLabels(labels: Labels, patterns: Labels): boolean {
  for (const name in patterns) {
    const value = Object.hasOwn(labels, name) ? labels[name]! : null;
    if (!matches(patterns[name]!, value)) return false;
  }
  return true;
}

function matches(pattern: string, value: string | null): boolean {
  if (value === null) return false;
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}

/** The value of a call whose limit it counts in; null if it has none, and then it counts in no limit of the budget. */
export function valueOfEach(each: BudgetEach, call: BudgetedCall): string | null {
  if (!isLabel(each)) return call[each];
  const name = each.slice(LABEL.length);
  return Object.hasOwn(call.labels, name) ? call.labels[name]! : null;
}

/** The one value that the selector allows for `each`; null if it allows several. */
export function exactValueOf(selector: BudgetSelector, each: BudgetEach): string | null {
  const pattern = isLabel(each) ? selector.labels?.[each.slice(LABEL.length)] : selector[each];
  return pattern === undefined || pattern.endsWith('*') ? null : pattern;
}

const LABEL = 'label:';

function isLabel(each: BudgetEach): each is `label:${string}` {
  return each.startsWith(LABEL);
}

const MAX_PATTERN = 128;
const PATTERN = 'must be a value, or the beginning of values followed by *, such as claude-*';

/** A pattern of values. It must be able to match one: `exact` is a value, and `start` is the beginning of some. */
function pattern(exact: (text: string) => boolean, start: (text: string) => boolean, values: string) {
  const canMatch = (text: string) => (text.endsWith('*') ? start(text.slice(0, -1)) : exact(text));
  return z
    .string()
    .min(1, { error: PATTERN, abort: true })
    .max(MAX_PATTERN, { error: `must be at most ${MAX_PATTERN} characters`, abort: true })
    .refine((text) => text === '*' || canMatch(text), {
      error: `can match nothing: ${values}, or the beginning of some followed by *`,
    })
    .meta({ description: 'A value, or the beginning of values followed by `*`', example: 'claude-*' });
}

const matching = (value: RegExp) => (text: string) => value.test(text);
const isPlanKey = (text: string) => planKey.safeParse(text).success;
const isLabelValue = (text: string) => labelValue.safeParse(text).success;
/** Models and providers have at most 128 bytes. */
const isName = (text: string) => /^[ -~\u00a0-\uffff]+$/.test(text) && Buffer.byteLength(text) <= MAX_PATTERN;

const agents = pattern(
  matching(IDENTIFIER),
  matching(IDENTIFIER),
  'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -',
);
const plans = pattern(isPlanKey, isPlanKey, 'must be a plan_key, 1 to 64 characters of a-z 0-9 _ -');
const names = pattern(isName, isName, 'must be at most 128 bytes of printable characters');
const keys = pattern(
  matching(/^[0-9A-Za-z]{16}$/),
  matching(/^[0-9A-Za-z]{1,16}$/),
  'must be the id of a workspace key, 16 characters of A-Z a-z 0-9',
);
const labelValues = pattern(
  isLabelValue,
  (text) => isLabelValue(`${text}0`),
  'must be 1 to 128 printable characters, without a space at its ends',
);

/** The values that a call must have, by label: each is exact, or a prefix followed by `*`. */
export const labelPatterns = z
  .record(labelName, labelValues, { error: ({ code }) => (code === 'invalid_key' ? LABEL_NAME : undefined) })
  .refine((all) => Object.keys(all).length <= MAX_LABELS, `must be at most ${MAX_LABELS} labels`);

export const budgetSelector = z
  .strictObject(
    {
      agent: agents.optional(),
      plan: plans.optional(),
      model: names.optional(),
      provider: names.optional(),
      key: keys.optional(),
      labels: labelPatterns.optional(),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'must be an object, such as {} for every call' : undefined) },
  )
  .meta({
    description: 'The calls that count: all that is given must match. Empty for every call',
    example: { model: 'claude-*', labels: { team: 'growth' } },
  });

const EACH = `must be ${BUDGET_DIMENSIONS.join(', ')}, or label: and the name of a label, such as label:team`;

export const budgetEach = z
  .string()
  .refine(
    (text) =>
      (BUDGET_DIMENSIONS as readonly string[]).includes(text) ||
      (text.startsWith(LABEL) && labelName.safeParse(text.slice(LABEL.length)).success),
    EACH,
  )
  .transform((text) => text as BudgetEach)
  .meta({
    description: `${BUDGET_DIMENSIONS.map((name) => `\`${name}\``).join(', ')}, or \`label:\` and the name of a label: each value has the limit for itself`,
    example: 'label:user',
  });

const startDay = z
  .int()
  .min(1, 'must be from 1 to 28')
  .max(28, 'must be from 1 to 28, because each month has these days')
  .default(1)
  .meta({ description: 'The day on which it begins' });
const startMonth = z
  .int()
  .min(1, 'must be from 1 to 12')
  .max(12, 'must be from 1 to 12')
  .default(1)
  .meta({ description: 'The month of the first quarter' });

const MIN_ROLLING_SECONDS = 3_600;
const MAX_ROLLING_SECONDS = 31 * 86_400;
const SECONDS = `must be from ${MIN_ROLLING_SECONDS} (an hour) to ${MAX_ROLLING_SECONDS} (31 days)`;

/** A period as callers write it. */
export const budgetPeriod = z
  .discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.enum(['hour', 'day', 'week']) }),
      z.strictObject({ kind: z.literal('month'), start_day: startDay }),
      z.strictObject({ kind: z.enum(['quarter', 'year']), start_month: startMonth, start_day: startDay }),
      z
        .strictObject({ kind: z.literal('once'), start: timestamp, end: timestamp })
        .refine(({ start, end }) => Date.parse(start) < Date.parse(end), {
          path: ['end'],
          error: 'must be after start',
        }),
      z.strictObject({
        kind: z.literal('rolling'),
        seconds: z.int().min(MIN_ROLLING_SECONDS, SECONDS).max(MAX_ROLLING_SECONDS, SECONDS).multipleOf(60, {
          error: 'must be a multiple of 60, because the period moves on in 60 steps',
        }),
      }),
    ],
    { error: ({ code }) => (code === 'invalid_union' ? `must be one of ${BUDGET_PERIODS.join(', ')}` : undefined) },
  )
  .meta({
    description:
      'What the limit is for: an hour, a day, a week from Monday, a month, a quarter or a year in the calendar of the workspace, once from `start` to before `end`, or the last `seconds`',
    example: { kind: 'month' },
  });

/** What a limit is called by its period, before its noun: "monthly". In sentences for people. */
export const PERIOD_ADJECTIVES: Record<BudgetPeriod['kind'], string> = {
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  quarter: 'quarterly',
  year: 'yearly',
  once: 'one-time',
  rolling: 'rolling',
};

/** The period of a body. */
export function toBudgetPeriod(body: z.output<typeof budgetPeriod>): BudgetPeriod {
  switch (body.kind) {
    case 'once':
      return { kind: body.kind, start: Date.parse(body.start), end: Date.parse(body.end) };
    case 'rolling':
      return { kind: body.kind, seconds: body.seconds };
    case 'month':
      return { kind: body.kind, startMonth: 1, startDay: body.start_day };
    case 'quarter':
    case 'year':
      return { kind: body.kind, startMonth: body.start_month, startDay: body.start_day };
    default:
      return { kind: body.kind, startMonth: 1, startDay: 1 };
  }
}

/** A period as a gRPC message has it. Null for a kind of a newer version. */
export function fromWirePeriod(message: WirePeriod): BudgetPeriod | null {
  const { kind, startMonth, startDay, start, end, seconds } = message;
  if (kind === 'once') return { kind, start, end };
  if (kind === 'rolling') return { kind, seconds };
  const calendar = CALENDAR_PERIODS.find((each) => each === kind);
  return calendar === undefined ? null : { kind: calendar, startMonth, startDay };
}

interface WirePeriod extends Record<'startMonth' | 'startDay' | 'start' | 'end' | 'seconds', number> {
  kind: string;
}

/** The period as a body has it. */
export function toBudgetPeriodBody(period: BudgetPeriod): z.output<typeof budgetPeriod> {
  switch (period.kind) {
    case 'once': {
      const { kind, start, end } = period;
      return { kind, start: new Date(start).toISOString(), end: new Date(end).toISOString() };
    }
    case 'rolling':
      return period;
    case 'month':
      return { kind: period.kind, start_day: period.startDay };
    case 'quarter':
    case 'year':
      return { kind: period.kind, start_month: period.startMonth, start_day: period.startDay };
    default:
      return { kind: period.kind };
  }
}

export const BUDGET_ACTIONS = ['deny', 'warn'] as const;
export type BudgetAction = (typeof BUDGET_ACTIONS)[number];

export const budgetAction = z.enum(BUDGET_ACTIONS).meta({
  description: '`deny` denies calls beyond the limit and its grace; `warn` only reports them',
});

const GRACE = 'must be from 0 to 100';

export const gracePercent = z
  .int()
  .min(0, GRACE)
  .max(100, GRACE)
  .meta({ description: 'Percent of the limit that may be spent beyond it' });

export const budgetOverrides = budgetId.meta({
  description:
    'A budget with `each`, one value of which the selector names exactly. That budget does not apply to the value',
});

/** Which calls count in a budget, how much they may spend, and what happens beyond it. */
export const budgetTerms = z.strictObject({
  selector: budgetSelector.default({}),
  each: budgetEach.nullable().default(null),
  overrides: budgetOverrides.nullable().default(null),
  period: budgetPeriod,
  limit_micros: micros.meta({ description: 'USD micros that may be spent in a period', example: 5_000_000 }),
  action: budgetAction.default('deny'),
  grace_percent: gracePercent.default(0),
});

/** Percentages of a limit that are reported when spend reaches them, unless the budget has its own. */
export const TOLD_AT = [50, 80, 100] as const;
export const MAX_TOLD_AT = 5;
/** The largest percentage of a limit that can be reported: that of a grace of 100 %. */
export const MAX_TOLD_PERCENT = 200;

/** The largest sum that a budget lets pass, in USD micros. */
export function grantableMicros(limitMicros: number, gracePercent: number): number {
  // Whole percents of the limit, without a product that a number cannot represent exactly.
  const grace = Math.floor(limitMicros / 100) * gracePercent + Math.floor(((limitMicros % 100) * gracePercent) / 100);
  return Math.min(limitMicros + grace, Number.MAX_SAFE_INTEGER);
}
