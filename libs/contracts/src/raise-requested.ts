import { z } from 'zod';
import { budgetId } from './api/budgets.ts';
import { identifier, micros, moment } from './api/primitives.ts';

/**
 * Somebody asks owners to raise a limit. Only Tollkeeper writes it: gateways cannot report it. Its time is that of the
 * request, from which its link is good for an hour.
 */
export const raiseRequestedData = z.object({
  raise_id: identifier,
  budget_id: budgetId,
  budget_name: z.string(),
  value: z.string().optional().meta({ description: 'The value that the limit is for, if the budget has one for each' }),
  extra_micros: micros.meta({ description: 'USD micros to add to the limit' }),
  until: moment.meta({ description: 'Until when' }),
  reason: z.string(),
  asked_by: z.string().meta({ description: 'The name of the person, or the workspace key' }),
});
export type RequestedRaise = z.infer<typeof raiseRequestedData>;
