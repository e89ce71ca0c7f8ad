import { denialCause, identifier, limitOfBudget, micros, planKey, timestamp } from '@tollkeeper/contracts';
import { z } from 'zod';
import { callFields, count, settlementSchema, windowSchema } from './schemas.ts';

const blockedFields = {
  event_id: identifier,
  run_id: identifier,
  agent_id: identifier,
  occurred_at: timestamp,
  ...callFields,
};
const fullFields = { source: z.string(), type: z.string() };

export const budgetBlockedFields = z.object({
  ...blockedFields,
  plan_key: planKey.optional(),
  scope: z.string().meta({
    description: 'Scope of the daily budget that blocked the call; `budget` for one with a selector',
    examples: ['workspace', 'agent', 'plan', 'budget'],
  }),
  requested_micros: micros,
  spent_micros: micros,
  held_micros: micros
    .optional()
    .meta({ description: 'Amount that open reservations held at that time, if the event reports it' }),
  daily_budget_usd_micros: micros.meta({ description: 'The limit, also if the budget is for another period' }),
  count: count.min(1).optional().meta({
    description: 'Number of blocked calls in this event; 1 if absent. The other fields are those of the last call',
  }),
  // Producers of earlier releases do not name the budget.
  ...z.object(limitOfBudget).partial().shape,
  ...denialCause,
  // A newer enforcer may have further ones.
  code: z.string().optional().meta({ description: denialCause.code.meta()?.description, example: 'paused' }),
});

export const guardBlockedFields = z.object({ ...blockedFields, guard: z.string(), reason: z.string() });

const settlementEvent = settlementSchema.extend(fullFields).meta({ id: 'SettlementEvent' });

/** Schemas of the list and the details of one type of blocked events. */
export function blockedSchemas<F extends z.ZodObject>(name: string, fields: F) {
  const item = fields.meta({ id: name });
  const event = fields.extend(fullFields).meta({ id: `${name}Event` });
  return {
    list: z.object({
      window: windowSchema,
      total: count.meta({ description: 'Total number of blocked calls in the window; an item may report several' }),
      items: z.array(item).meta({ description: 'Newest first' }),
      next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
    }),
    details: z.union([
      z.object({ window: windowSchema, event }).meta({ description: 'By `event_id`' }),
      z
        .object({
          window: windowSchema,
          run_id: identifier,
          events: z.array(z.union([event, settlementEvent])).meta({
            description:
              'At most the 1000 oldest blocked calls of this kind and the 1000 oldest settlements of the run, oldest first',
          }),
        })
        .meta({ description: 'By `run_id`' }),
    ]),
  };
}
