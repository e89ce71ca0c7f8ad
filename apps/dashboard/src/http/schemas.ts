import {
  identifier,
  LABEL_NAME,
  labelName,
  labelValue,
  limitOfBudget,
  micros,
  planKey,
  PRICED_BY,
  priceId,
  timestamp,
  timezone,
  raisedLimit,
} from '@tollkeeper/contracts';
import { RANGE_KINDS } from '@tollkeeper/kernel';
import { z } from 'zod';
import { DIMENSIONS } from '../domain/breakdown.ts';
import { MAX_SHOWN_BUDGETS } from '../domain/budget-risk.ts';
import type { Blocker } from '../domain/event.ts';
import { MAX_CUSTOM_DAYS } from './window.ts';

export const count = z.int().min(0);
const tokens = {
  input_tokens: count.meta({ description: 'Sum over the settlements; settlements without a count add 0' }),
  output_tokens: count.meta({ description: 'Sum over the settlements; settlements without a count add 0' }),
};
/** The parts of {@link tokens}, as settlements divide them. */
const tokenParts = {
  cache_read_tokens: count.meta({ description: 'Part of the input tokens that was read from a cache' }),
  cache_write_tokens: count.meta({ description: 'Part of the input tokens that was written to a cache' }),
  cache_write_1h_tokens: count.meta({
    description: 'Part of the input tokens that was written to a cache for an hour',
  }),
  reasoning_tokens: count.meta({ description: 'Part of the output tokens with which models reasoned' }),
};
export const tokenSums = { ...tokens, ...tokenParts };
/** Calls that sums of spend do not include, or as 0. */
export const unknownSpend = {
  unmetered: z
    .object({ calls: count })
    .meta({ description: 'Calls that were reported without tokens and cost, so that spend does not include them' }),
  unpriced: z.object({ calls: count }).meta({
    description:
      'Settlements of which nobody knows what they cost, so that they count as 0. `/spend/unpriced` has their models',
  }),
};
export const blockedCalls = { budget: count, guard: count } satisfies Record<Blocker, z.ZodType>;
const blockedCallFields = { budget_blocked: count, guard_blocked: count } satisfies Record<
  `${Blocker}_blocked`,
  z.ZodType
>;
export const percent = z.number().min(0).meta({ description: 'Percent with 2 decimals' });

/** What spend can be divided by. */
export const by = z
  .union([z.enum(DIMENSIONS), z.templateLiteral(['label:', labelName])], {
    error: `must be ${DIMENSIONS.join(', ')}, or label: and the name of a label that the workspace tracks`,
  })
  .meta({ description: 'Dimension to group spend by; a tracked label as `label:team`', example: 'agent' });

/** The query parameters of every drilldown. */
export const rangeQuery = {
  range: z
    .string()
    .optional()
    .meta({
      description: `One of ${RANGE_KINDS.join(', ')}; anything else counts as current_month`,
      example: 'today',
    }),
  from: timestamp.optional().meta({
    description: `Start of the span to read, instead of \`range\`. Alone, the span lasts until now. At most ${MAX_CUSTOM_DAYS} days before its end. Where events have already been removed (100 days by default), a span lasts at least an hour, and its ends are on a quarter of an hour`,
    example: '2026-10-01T00:00:00.000Z',
  }),
  to: timestamp.optional().meta({
    description: 'End of the span that starts at `from`, exclusive. Default: now. Without `from`, the answer is 400',
  }),
  timezone: timezone.optional().meta({ description: 'IANA time zone name. Default: the time zone of the workspace' }),
  label: z
    .record(labelName, labelValue, {
      error: ({ code }) => (code === 'invalid_key' ? LABEL_NAME : 'must be given as label.NAME=VALUE'),
    })
    .optional()
    .meta({
      description:
        'Only events with this value of a label that the workspace tracks, such as `label.team=growth`. `/spend`, `/spend/series`, `/export` and the lists of blocked calls take it, once; other drilldowns answer 400. It finds events since the label is tracked',
      param: { style: 'form', explode: true },
      override: {
        type: 'object',
        patternProperties: { '^label\\.[a-z][a-z0-9_.-]{0,31}$': { type: 'string', minLength: 1, maxLength: 128 } },
        additionalProperties: false,
        propertyNames: undefined,
      },
    }),
};

export const windowSchema = z
  .object({
    kind: z.enum([...RANGE_KINDS, 'custom']),
    start: timestamp,
    end: timestamp,
    timezone,
    events_from: timestamp.optional().meta({
      description:
        'Only if the span starts before: older events have been removed. Sums are complete, but lists of events go back only this far',
    }),
  })
  .meta({
    id: 'Window',
    description: 'The span `[start, end)` that the response covers; its kind is `custom` if the query names its start',
  });

const metricsSchema = z
  .object({
    total_micros: micros,
    unique_settlements: count,
    avg_micros_per_settlement: z.number().min(0).meta({ description: '2 decimals; 0 without settlements' }),
    budget_used_pct: percent,
    ...tokenSums,
  })
  .meta({ id: 'SpendMetrics' });

const budgetSchema = z
  .object({ daily_budget_usd_micros: micros.nullable(), window_budget_usd_micros: micros.nullable() })
  .meta({ id: 'WindowBudget', description: 'The daily budget and what it allows over the window; null if not set' });

/** A field of all answers with a budget or a share of a budget. */
const budgetMark = {
  budget_stale: z.literal(true).optional().meta({
    description:
      'True while the budgets service is down: the response uses the last known budget, or none. Absent otherwise.',
  }),
};

const budgetRiskSchema = z
  .object({
    ...limitOfBudget,
    ...raisedLimit,
    spent_micros: micros.meta({ description: 'USD micros settled in the period' }),
    held_micros: micros.meta({ description: 'USD micros that open reservations hold' }),
    pace_end_micros: micros.nullable().meta({
      description:
        'USD micros that will be spent at the end of the period at the pace of its elapsed part. Null before 5% of the period have elapsed, and for rolling periods',
    }),
    at_risk: z
      .boolean()
      .meta({ description: 'Whether 80% of the limit without raises are spent, or it will be exceeded at this pace' }),
    state: z.enum(['exact', 'filling']).meta({
      description: '`filling` while spend from before the budget was made or changed is not fully counted yet',
    }),
  })
  .meta({ id: 'BudgetRisk' });

export const overviewSchema = z
  .object({
    window: windowSchema,
    spend: metricsSchema,
    ...unknownSpend,
    budget: budgetSchema,
    ...budgetMark,
    budgets: z
      .array(budgetRiskSchema)
      .nullable()
      .meta({
        description: `The ${MAX_SHOWN_BUDGETS} budgets that are most at risk in their running periods, whatever the window: those at risk first, then by the part of the limit that will be spent. A budget with a limit for each value comes once, with the value that is most at risk. Null while the enforcer does not answer within a second`,
      }),
    blocked: z.object(blockedCalls),
    active_agents: count.meta({ description: 'Agents with an event of any type' }),
    runs: count.meta({ description: 'Runs whose first event is in the window' }),
    previous: z
      .object({ total_micros: micros, ...blockedCalls })
      .meta({ description: 'Spend and blocked calls of the preceding span of equal length' }),
    comparison: z.object({ start: timestamp, end: timestamp, total_micros: micros, ...blockedCalls }).meta({
      description:
        'Spend and blocked calls of the comparable earlier span: yesterday up to the same time for `today`, last month up to the same day and time for `current_month`, the preceding span for other ranges',
    }),
  })
  .meta({ id: 'Overview' });

export const spendSchema = z
  .object({ window: windowSchema, metrics: metricsSchema, ...unknownSpend, ...budgetMark })
  .meta({ id: 'Spend' });

const pointSchema = z
  .object({
    start: timestamp,
    total_micros: micros,
    unique_settlements: count,
    ...tokens,
    ...blockedCallFields,
  })
  .meta({ id: 'SpendPoint' });

const intervalSchema = z.enum(['1s', '5s', '15s', '1min', '1h', '1d']);

export const seriesSchema = z
  .object({
    window: windowSchema,
    interval: intervalSchema,
    points: z.array(pointSchema).meta({ description: 'Oldest first; each ends where the next one starts' }),
  })
  .meta({ id: 'SpendSeries' });

const spendFields = {
  total_micros: micros,
  unique_settlements: count,
  ...tokens,
  share_pct: percent.meta({ description: "Share of the workspace's spend, 2 decimals" }),
};

export const otherMark = {
  other: z.literal(true).optional().meta({
    description:
      'All further names together: those beyond the first 1,000 that a workspace uses in a UTC day. The name is then null',
  }),
};

export const breakdownSchema = z
  .object({
    window: windowSchema,
    interval: intervalSchema,
    by,
    groups: z
      .array(
        z.object({
          key: z.string().nullable().meta({
            description:
              'The `agent_id`, the model, the `plan_key` or the value of the label. Null for settlements that name none, and for those from before the label was tracked',
          }),
          display_name: z.string().optional().meta({ description: 'Of agents' }),
          ...otherMark,
          ...spendFields,
        }),
      )
      .meta({ description: 'Those that spent most, by spend, then by `key`' }),
    others: z
      .object({ count: count.meta({ description: 'Number of further groups' }), ...spendFields })
      .nullable()
      .meta({ description: 'All further groups; null when there are none' }),
    points: z
      .array(
        z.object({
          start: timestamp,
          micros: z.array(micros).meta({ description: 'One for each of `groups`, then one for `others` unless null' }),
        }),
      )
      .meta({ description: 'Oldest first; each ends where the next one starts' }),
  })
  .meta({ id: 'SpendBreakdown' });

export const unpricedSchema = z
  .object({
    window: windowSchema,
    calls: count.meta({ description: 'All calls of the window that nobody knows the price of' }),
    models: z
      .array(
        z.object({
          model: z.string().nullable().meta({ description: 'Null for calls that name no model' }),
          ...otherMark,
          calls: count.meta({ description: 'Its calls without a price' }),
          input_tokens: count.meta({ description: 'Of all its calls in the window' }),
          output_tokens: count.meta({ description: 'Of all its calls in the window' }),
        }),
      )
      .meta({ description: 'Those with most calls without a price first; at most 50' }),
    others: z.object({ calls: count }).meta({ description: 'The calls of all further models' }),
  })
  .meta({ id: 'UnpricedCalls' });

export const topAgentsSchema = z
  .object({
    window: windowSchema,
    items: z.array(
      z.object({
        agent_id: identifier,
        display_name: z.string(),
        ...spendFields,
        ...blockedCallFields,
        last_seen_at: timestamp,
      }),
    ),
  })
  .meta({ id: 'TopAgents' });

/** What settlements and blocked calls may say of their call. */
export const callFields = {
  model: z.string().optional(),
  provider: z.string().optional(),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'The labels of the call: those of its workspace key, its agent and its own' }),
  key_id: identifier.optional().meta({ description: 'Id of the workspace key that reported the call' }),
};

export const settlementSchema = z
  .object({
    event_id: identifier,
    settlement_id: identifier,
    run_id: identifier,
    agent_id: identifier,
    occurred_at: timestamp,
    amount_micros: micros,
    plan_key: planKey.optional(),
    ...callFields,
    input_tokens: count.optional(),
    output_tokens: count.optional(),
    ...z.object(tokenParts).partial().shape,
    priced_by: z
      .string()
      .optional()
      .meta({ description: 'Who says what the call cost', examples: [...PRICED_BY] }),
    price_id: priceId.optional(),
    price_version: identifier.optional(),
    service_tier: z.string().optional(),
    response_model: z.string().optional(),
    request_model: z.string().optional(),
    reservation_id: identifier
      .optional()
      .meta({ description: 'The settled reservation or the lease, if there was one' }),
  })
  .meta({ id: 'Settlement' });

export const agentDetailsSchema = z
  .object({
    window: windowSchema,
    agent: z.object({ agent_id: identifier, display_name: z.string() }),
    metrics: metricsSchema,
    budget: budgetSchema,
    ...budgetMark,
    points: z.array(pointSchema),
    models: z.array(
      z.object({
        model: z.string().nullable().meta({ description: 'Null for settlements without a model' }),
        ...otherMark,
        total_micros: micros,
        unique_settlements: count,
        ...tokens,
      }),
    ),
    recent: z.array(settlementSchema).meta({ description: 'The newest 20 settlements of the window' }),
  })
  .meta({ id: 'AgentDetails' });
