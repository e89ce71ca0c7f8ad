import { z } from 'zod';
import { labels } from './api/labels.ts';
import { boundedText, identifier, micros, planKey, timestamp } from './api/primitives.ts';

/** Identifies the settlement of a call, whether by an event or by a call of the enforcer. */
export const settlementId = identifier.meta({
  description: 'Counts once in a workspace, however many events carry it',
});
export const modelName = boundedText(128);
export const providerName = boundedText(128);
export const tokens = z.int().min(0, 'must not be negative').meta({ description: 'Number of tokens' });

export const spendSettledData = z.strictObject({
  settlement_id: settlementId,
  run_id: identifier,
  agent_id: identifier,
  amount_micros: micros,
  plan_key: planKey.optional(),
  model: modelName.optional(),
  provider: providerName.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
  reservation_id: identifier.optional().meta({ description: 'The reservation that this settles, if there is one' }),
  labels: labels.optional(),
});

/** The scopes of a daily budget. */
export const BUDGET_SCOPES = ['workspace', 'agent', 'plan'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

const scope = z.enum(BUDGET_SCOPES);

/** Maximum number of blocked calls in one event. */
const MAX_BLOCKED_COUNT = 1_000_000;
const BLOCKED_COUNT = `must be a whole number from 1 to ${MAX_BLOCKED_COUNT}`;

export const budgetBlockedData = z.strictObject({
  run_id: identifier,
  agent_id: identifier,
  scope: scope.meta({ description: 'The budget that was used up' }),
  requested_micros: micros,
  spent_micros: micros,
  held_micros: micros.optional().meta({ description: 'Amount of the budget that open reservations held at that time' }),
  daily_budget_usd_micros: micros,
  plan_key: planKey.optional(),
  count: z.int(BLOCKED_COUNT).min(1, BLOCKED_COUNT).max(MAX_BLOCKED_COUNT, BLOCKED_COUNT).optional().meta({
    description: 'How many blocked calls the event reports; 1 if absent. The other fields are those of the last one',
  }),
  model: modelName.optional(),
  provider: providerName.optional(),
  labels: labels.optional(),
});

export const guardBlockedData = z.strictObject({
  run_id: identifier,
  agent_id: identifier,
  guard: boundedText(128).meta({ description: 'The guard that blocked the call. At most 128 bytes in UTF-8' }),
  reason: boundedText(1000).meta({ description: 'Why, for a person. At most 1000 bytes in UTF-8' }),
  model: modelName.optional(),
  provider: providerName.optional(),
  labels: labels.optional(),
});

/** The share of a daily budget that was spent, in whole percent. */
export const budgetPercent = z
  .int()
  .min(1, 'must be from 1 to 100')
  .max(100, 'must be from 1 to 100')
  .meta({ description: 'Percent of a daily budget, a whole number', example: 80 });

/** About a budget, not a call: it names no run, and an agent only as its scope. */
export const budgetThresholdReachedData = z.strictObject({
  scope: scope.meta({ description: 'Whose daily budget it is' }),
  scope_id: identifier.meta({ description: 'Id of the workspace or the agent, or key of the plan' }),
  percent: budgetPercent.meta({ description: 'Percent of the daily budget that the spend of the day has reached' }),
  spent_micros: micros,
  daily_budget_usd_micros: micros,
});

/**
 * The data of any other event type: an object, whose `run_id` and `agent_id` are read if present. Ingestion drops the
 * rest.
 */
export const otherData = z.looseObject({ run_id: identifier.optional(), agent_id: identifier.optional() });

/** The name of an event type, known or unknown. */
export const eventType = boundedText(128)
  .regex(/^[a-z0-9_]+(\.[a-z0-9_]+)*$/, 'must be words of a-z 0-9 _ joined by dots, such as tool.called')
  .meta({ description: 'Type of an event', example: 'budget.blocked' });

/** `data` with the context attributes of CloudEvents 1.0 that Tollkeeper uses. */
function cloudEvent<T extends z.ZodType<string>, D extends z.ZodType>(type: T, data: D) {
  return z.object({
    specversion: z.literal('1.0'),
    id: identifier.meta({
      description: 'Unique in the workspace together with `source`. An event that is sent again counts once',
    }),
    source: z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/, 'must be a URI reference of 1 to 256 printable ASCII characters')
      .meta({ description: 'URI reference of the gateway that reports', example: '/gateways/eu-1' }),
    type,
    time: timestamp.meta({ description: 'When it happened, as RFC 3339; at most 5 minutes ahead' }),
    datacontenttype: z
      .string()
      .regex(/^application\/json(;.{0,100})?$/i, 'must be application/json')
      .optional(),
    dataschema: z.string().max(1024).optional(),
    subject: z.string().max(1024).optional(),
    data,
  });
}

/** The types of events that Tollkeeper interprets. */
export const knownEventSchemas = {
  'spend.settled': cloudEvent(z.literal('spend.settled'), spendSettledData),
  'budget.blocked': cloudEvent(z.literal('budget.blocked'), budgetBlockedData),
  'guard.blocked': cloudEvent(z.literal('guard.blocked'), guardBlockedData),
  'budget.threshold_reached': cloudEvent(z.literal('budget.threshold_reached'), budgetThresholdReachedData),
};

export const otherEventSchema = cloudEvent(eventType, otherData);

export type KnownEventType = keyof typeof knownEventSchemas;
