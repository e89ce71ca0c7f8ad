import { z } from 'zod';
import { budgetId } from './budgets.ts';
import { identifier, micros, timestamp } from './primitives.ts';

/** Maximum number of raises of a workspace that are in force, and also of those that are asked for. */
export const MAX_RAISES = 100;
/** How many days a raise lasts at most. */
export const MAX_RAISE_DAYS = 31;

const REASON = 'must be 1 to 200 printable characters, because others read it';

/** Why a person or a program did something, in a line that others read. */
export const reasonText = z
  .string()
  .trim()
  .regex(/^[ -~\u00a0-\uffff]{1,200}$/, { error: REASON, abort: true })
  // Also without what is invisible, reorders text, or is half of a pair. OpenAPI has no pattern for that.
  .refine((text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), REASON);

const EXTRA = 'must be at least 1';

export const extraMicros = micros.min(1, EXTRA).meta({
  description: 'USD micros that are added to the limit',
  example: 10_000_000,
});
export const raiseUntil = timestamp.meta({
  description: `When the raise ends: in the future, at most ${MAX_RAISE_DAYS} days from now`,
});
export const raiseReason = reasonText.meta({ description: 'Why', example: 'Launch of the spring campaign' });
export const raiseValue = z
  .string()
  .min(1, 'must not be empty')
  .max(128, 'must be at most 128 characters')
  .meta({ description: 'The value whose limit is raised, of a budget with `each`', example: 'zoe@example.com' });

/** A raise as people and programs ask for it. */
export const raiseBody = z.strictObject({
  budget_id: budgetId.meta({ description: 'The budget, as a denial and `GET /api/v1/budgets` name it' }),
  value: raiseValue.optional(),
  extra_micros: extraMicros,
  until: raiseUntil,
  reason: raiseReason,
  request_id: identifier.optional().meta({
    description: 'Chosen by the caller. The same caller gets the same raise for it, so a request can be repeated',
    example: 'raise-1',
  }),
});
