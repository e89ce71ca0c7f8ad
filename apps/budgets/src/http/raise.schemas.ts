import {
  budgetId,
  extraMicros,
  identifier,
  MAX_RAISE_DAYS,
  micros,
  moment,
  raiseBody,
  raiseReason,
  raiseUntil,
  raiseValue,
  reasonText,
} from '@tollkeeper/contracts';
import { integerQuery } from '@tollkeeper/http';
import { z } from 'zod';
import { type Person, type Raise, RAISE_STATES, type RaiseDraft, stateOf } from '../domain/raise.ts';

export const ofRaise = z.object({
  raise_id: identifier.meta({ description: 'Id of the raise', example: 'rai_4fG0aZ8kQ2mN6pR1tV5x' }),
});

const state = z.enum(RAISE_STATES).meta({
  description:
    '`requested → active | declined | expired`, `active → ended`. A request expires, and a raise ends, at its `until`',
});
const token = z
  .string()
  .max(256, 'must be at most 256 characters')
  .meta({ description: 'The token of the link, if the request is decided through its link' });

export const raiseInput = raiseBody.meta({ id: 'RaiseInput' });

export const approvalBody = z
  .strictObject({
    extra_micros: extraMicros.optional().meta({ description: 'Another amount than was asked for' }),
    until: raiseUntil.optional().meta({
      description: `Another end than was asked for: at most ${MAX_RAISE_DAYS} days from now`,
    }),
    token: token.optional(),
  })
  .meta({ id: 'RaiseApproval' });

export const declineBody = z
  .strictObject({ reason: reasonText.meta({ description: 'Why. The asker reads it' }), token: token.optional() })
  .meta({ id: 'RaiseDecline' });

export const listQuery = z.object({
  state: state.optional(),
  budget_id: budgetId.optional(),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
});

const person = z.object({ id: z.string(), name: z.string() }).nullable();

export const raiseRecord = z
  .object({
    id: identifier.meta({ example: 'rai_4fG0aZ8kQ2mN6pR1tV5x' }),
    state,
    budget_id: budgetId,
    budget_name: z.string().meta({ description: 'The name of the budget at that time', example: 'Per user' }),
    value: raiseValue.nullable(),
    extra_micros: extraMicros.meta({ description: 'USD micros that are added, or are asked for' }),
    until: moment.meta({ description: 'When it ends, unless an owner ends it before' }),
    asked_micros: micros.meta({ description: 'USD micros that were asked for' }),
    asked_until: moment.meta({ description: 'The end that was asked for' }),
    reason: raiseReason,
    asked_by: z
      .object({ type: z.enum(['user', 'key']), id: z.string(), name: z.string() })
      .meta({ description: 'The person, with the name then, or the workspace key' }),
    created_at: moment,
    decided_by: person.meta({ description: 'Who granted or declined it' }),
    decided_at: moment.nullable(),
    decline_reason: z.string().nullable(),
    ended_by: person.meta({ description: 'Who ended it before its time' }),
    ended_at: moment.nullable(),
  })
  .meta({ id: 'Raise' });

export const raisePage = z.object({
  items: z.array(raiseRecord).meta({ description: 'Newest first' }),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

export function toRaiseDraft(body: z.output<typeof raiseInput>): RaiseDraft {
  const { budget_id: budgetId, value, extra_micros: extraMicros, until, reason, request_id: requestId } = body;
  return {
    ...{ budgetId, value: value ?? null, extraMicros, until: new Date(until) },
    ...{ reason, requestId: requestId ?? null },
  };
}

export function toRaiseRecord(raise: Raise, now: number): z.output<typeof raiseRecord> {
  const { id, value, reason, askedBy } = raise;
  return {
    ...{ id, state: stateOf(raise, new Date(now)) },
    ...{ budget_id: raise.budgetId, budget_name: raise.budgetName, value },
    ...{ extra_micros: raise.extraMicros, until: raise.until.toISOString() },
    ...{ asked_micros: raise.askedMicros, asked_until: raise.askedUntil.toISOString(), reason },
    asked_by: { type: askedBy.type, id: askedBy.id, name: askedBy.name },
    created_at: raise.createdAt.toISOString(),
    ...{ decided_by: toPerson(raise.decidedBy), decided_at: raise.decidedAt?.toISOString() ?? null },
    decline_reason: raise.declineReason,
    ...{ ended_by: toPerson(raise.endedBy), ended_at: raise.endedAt?.toISOString() ?? null },
  };
}

function toPerson(known: Person | null) {
  return known && { id: known.id, name: known.name };
}
