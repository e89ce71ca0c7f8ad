import { z } from 'zod';
import { labels } from './api/labels.ts';
import { budgetId, LIMIT_SCOPES, MAX_TOLD_PERCENT } from './api/budgets.ts';
import { boundedText, identifier, micros, moment, planKey, timestamp } from './api/primitives.ts';
import { modelName, providerName, spendSettledData } from './spend-settled.ts';

const scope = z.enum(LIMIT_SCOPES);

/** The budget of a limit, and the part of it that the limit is. */
export const limitOfBudget = {
  budget_id: budgetId.meta({ description: 'The budget of the limit' }),
  budget_name: z.string().min(1).max(300).meta({ description: 'Its name', example: 'Growth team' }),
  value: z.string().min(1).max(128).optional().meta({
    description: 'The value that the limit is for, if the budget has one for each value',
    example: 'zoe@example.com',
  }),
  limit_micros: micros.meta({ description: 'The limit in USD micros' }),
  period: z
    .object({ kind: z.string().max(32), start: moment, end: moment })
    .meta({ description: 'The period of the budget that the spend counts in' }),
};
const ofBudget = z.object(limitOfBudget).partial().shape;

/** What raises add to a limit. */
export const raisedLimit = {
  raised_micros: micros
    .optional()
    .meta({ description: 'USD micros that raises in force add to the limit; absent without any' }),
  raised_until: moment.optional().meta({ description: 'When the first of these raises ends' }),
};

/** Why calls are denied. A pause denies them as a limit of 0 does. */
const DENIAL_CODES = ['budget_exceeded', 'paused'] as const;
export type DenialCode = (typeof DENIAL_CODES)[number];

/** What a denial says besides its limit. */
export const denialCause = {
  code: z.enum(DENIAL_CODES).meta({
    description: '`paused`: an owner or admin has paused these calls. `budget_exceeded`: a limit is used up',
  }),
  pause_id: identifier.optional().meta({ description: 'The pause', example: 'pau_4fG0aZ8kQ2mN6pR1tV5x' }),
  pause_reason: boundedText(1000).optional().meta({ description: 'Why the calls are paused, for a person' }),
};

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
  ...ofBudget,
  ...z.object(denialCause).partial().shape,
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

/** The share of a budget that was spent, in whole percent. A budget may let more pass than its limit. */
export const budgetPercent = percentUpTo(MAX_TOLD_PERCENT).meta({
  description: 'Percent of a budget, a whole number',
  example: 80,
});

function percentUpTo(most: number) {
  const message = `must be from 1 to ${most}`;
  return z.int().min(1, message).max(most, message);
}

/** About a budget, not a call: it names no run, and an agent only as its scope. */
export const budgetThresholdReachedData = z.strictObject({
  scope: scope.meta({ description: 'Whose daily budget it is; `budget` for one with a selector' }),
  scope_id: identifier.meta({ description: 'Id of the workspace, the agent or the budget, or key of the plan' }),
  // Readers of release 0.1.0 refuse an event with more than 100.
  percent: percentUpTo(100).meta({ description: 'Percent of the budget that its spend has reached, at most 100' }),
  reached_percent: budgetPercent.optional().meta({ description: 'The same, also above 100' }),
  spent_micros: micros,
  daily_budget_usd_micros: micros.meta({ description: 'The limit, also if the budget is for another period' }),
  ...ofBudget,
});

/** Why nobody knows what a call cost. `client_gone`: its client left before the answer with the usage. */
const UNMETERED_REASONS = ['no_usage', 'client_gone'] as const;

/** A call that was answered, or may have been, and of which its sender reports neither tokens nor a cost. */
export const callUnmeteredData = z.strictObject({
  call_id: identifier.meta({ description: 'The `settlement_id` that the call would have' }),
  run_id: identifier,
  agent_id: identifier,
  model: modelName.optional(),
  provider: providerName.optional(),
  reason: z.enum(UNMETERED_REASONS).meta({
    description: '`no_usage`: the sender reports no usage. `client_gone`: the client left before the end of the answer',
  }),
  labels: labels.optional(),
});

/** An attempt of a call failed. Unless another one succeeds within 10 seconds, its reservation is released. */
export const callFailedData = z.strictObject({
  request_id: identifier.meta({ description: 'The `request_id` of its reservation', example: 'call:71cb5baf' }),
  run_id: identifier,
  agent_id: identifier,
  model: modelName.optional(),
  provider: providerName.optional(),
});

/** Calls of a model have tokens, and nobody knows its price. It is about a model, so it names no agent and no run. */
export const priceMissingData = z.strictObject({
  model: modelName,
  provider: providerName.optional(),
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
  'call.unmetered': cloudEvent(z.literal('call.unmetered'), callUnmeteredData),
  'call.failed': cloudEvent(z.literal('call.failed'), callFailedData),
  'price.missing': cloudEvent(z.literal('price.missing'), priceMissingData),
};

/** The types that only Tollkeeper writes. */
export type OwnEventType = 'spend.repriced' | 'raise.requested';
const OWN_TYPES: Record<OwnEventType, { isAboutEarlier: boolean }> = {
  'spend.repriced': { isAboutEarlier: true },
  'raise.requested': { isAboutEarlier: false },
};

export function isOwnType(type: string): type is OwnEventType {
  return Object.hasOwn(OWN_TYPES, type);
}

/** Whether events of the type are about earlier events. Rules do not count them. */
export function isAboutEarlier(type: string): boolean {
  return isOwnType(type) && OWN_TYPES[type].isAboutEarlier;
}

export const otherEventSchema = cloudEvent(
  eventType.refine((type) => !isOwnType(type), 'must be another type: Tollkeeper alone writes events of this one'),
  otherData,
);

export type KnownEventType = keyof typeof knownEventSchemas;
