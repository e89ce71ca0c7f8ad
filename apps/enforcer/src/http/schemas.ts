import {
  denialCause,
  identifier,
  LIMIT_SCOPES,
  limitOfBudget,
  micros,
  modelName,
  moment,
  planKey,
  providerName,
  raisedLimit,
} from '@tollkeeper/contracts';
import { z } from 'zod';
import { COUNT_STATES, type Denial, type LimitRow } from '../domain/limit.ts';
import { budgetOf } from '../domain/limit.rows.ts';
import { denialCodeOf } from '../domain/pause.denial.ts';
import { type Reservation, RESERVATION_STATES } from '../domain/reservation.ts';

export const reservationState = z.enum(RESERVATION_STATES).meta({
  description: '`held → settled | released | expired`. An expired reservation can still be settled',
});

export const reservationSchema = z
  .object({
    id: z.string().meta({ example: 'rsv_4fGh1Jk2Lm3Np4Qr5St6' }),
    request_id: identifier.meta({ example: 'call-2' }),
    agent_id: identifier,
    run_id: identifier.meta({ example: 'run-2' }),
    plan_key: planKey.nullable(),
    amount_micros: micros.meta({ description: 'USD micros that were requested' }),
    state: reservationState,
    created_at: moment,
    expires_at: moment.meta({ description: 'When the reservation expires' }),
    settled_micros: micros.nullable().meta({ description: 'USD micros that were spent; null until it is settled' }),
    settlement_id: identifier.meta({ example: 'settlement-2' }).nullable(),
    model: modelName.nullable(),
    provider: providerName.nullable(),
    labels: z
      .record(z.string(), z.string())
      .meta({ description: 'Those of the workspace key and the agent at that time, and of the call' }),
  })
  .meta({ id: 'Reservation' });

const limitFields = {
  scope: z.enum(LIMIT_SCOPES).meta({ description: 'Scope of the daily budget; `budget` for one with a selector' }),
  scope_id: z
    .string()
    .meta({ description: 'The id of the workspace, an `agent_id`, a `plan_key` or the id of a budget' }),
  daily_budget_usd_micros: micros.meta({ description: 'The same as `limit_micros`, whatever the period' }),
  spent_micros: micros.meta({ description: 'USD micros settled in the period' }),
  held_micros: micros.meta({ description: 'USD micros that open reservations and leases hold' }),
  ...limitOfBudget,
  ...raisedLimit,
};
const resetsAt = moment.meta({
  description: 'When the period ends; for a rolling one, when its oldest spend leaves it',
});

export const limitRow = z
  .object({
    ...limitFields,
    remaining_micros: micros.meta({ description: 'USD micros that may still be reserved, never below 0' }),
    resets_at: resetsAt,
    state: z.enum(COUNT_STATES).meta({
      description: '`filling` while spend from before the budget was made or changed is not fully counted yet',
    }),
  })
  .meta({ id: 'LimitStatus' });

export const denialSchema = z
  .object({
    ...limitFields,
    requested_micros: micros,
    resets_at: resetsAt,
    message: z.string().meta({ description: 'For people: why the call is denied, and what would allow it' }),
    ...denialCause,
  })
  .meta({
    id: 'BudgetDenial',
    description:
      'The limit with the least remaining, if there are several. A pause denies as a limit of 0 does: `scope` is the agent, or the workspace if a key or a label is paused, and the period lasts as long as the pause',
  });

export const reservationParams = z.object({
  reservation_id: identifier.meta({ description: 'Id of the reservation', example: 'rsv_4fGh1Jk2Lm3Np4Qr5St6' }),
});

export function toReservationBody(reservation: Reservation): z.output<typeof reservationSchema> {
  return {
    id: reservation.id,
    request_id: reservation.requestId,
    agent_id: reservation.agentId,
    run_id: reservation.runId,
    plan_key: reservation.planKey,
    amount_micros: reservation.amountMicros,
    state: reservation.state,
    created_at: toMoment(reservation.createdAt),
    expires_at: toMoment(reservation.expiresAt),
    settled_micros: reservation.settledMicros,
    settlement_id: reservation.settlementId,
    model: reservation.model,
    provider: reservation.provider,
    labels: reservation.labels,
  };
}

/** The fields that a limit row and a denial share. */
function toLimitFields(limit: LimitRow & Pick<Denial, 'pause'>) {
  const { id, name, value, period } = budgetOf(limit);
  return {
    scope: limit.scope,
    scope_id: limit.scopeId,
    daily_budget_usd_micros: limit.limitMicros,
    spent_micros: limit.spentMicros,
    held_micros: limit.heldMicros,
    resets_at: toMoment(limit.resetsAt),
    budget_id: id,
    budget_name: name,
    ...(value !== undefined && { value }),
    limit_micros: limit.limitMicros,
    ...(limit.raised && { raised_micros: limit.raised.micros, raised_until: toMoment(limit.raised.until) }),
    period: { kind: period, start: toMoment(limit.period.start), end: toMoment(limit.period.end) },
  };
}

export function toLimitRow(row: LimitRow): z.output<typeof limitRow> {
  return { ...toLimitFields(row), remaining_micros: row.remainingMicros, state: row.state };
}

export function toDenialBody(denial: Denial): z.output<typeof denialSchema> {
  const { requestedMicros, message, pause } = denial;
  const ofPause = pause === undefined ? {} : { pause_id: pause.id, pause_reason: pause.reason };
  const cause = { code: denialCodeOf(denial), ...ofPause };
  return { ...toLimitFields(denial), requested_micros: requestedMicros, message, ...cause };
}

/** Epoch milliseconds in the format of answers. */
export function toMoment(time: number): string {
  return new Date(time).toISOString();
}
