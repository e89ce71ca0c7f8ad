import { BUDGET_SCOPES, identifier, micros, modelName, moment, planKey, providerName } from '@tollkeeper/contracts';
import { z } from 'zod';
import type { LimitRow } from '../domain/limit.ts';
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
  scope: z.enum(BUDGET_SCOPES).meta({ description: 'Scope of the daily budget' }),
  scope_id: z.string().meta({ description: 'The id of the workspace, an `agent_id` or a `plan_key`' }),
  daily_budget_usd_micros: micros,
  spent_micros: micros.meta({ description: 'USD micros settled on the current day' }),
  held_micros: micros.meta({ description: 'USD micros that open reservations hold' }),
};
const resetsAt = moment.meta({ description: 'When the day of the workspace ends' });

export const limitRow = z
  .object({
    ...limitFields,
    remaining_micros: micros.meta({ description: 'USD micros that may still be reserved, never below 0' }),
    resets_at: resetsAt,
  })
  .meta({ id: 'LimitStatus' });

export const denialSchema = z
  .object({
    ...limitFields,
    requested_micros: micros,
    resets_at: resetsAt,
    message: z.string().meta({ description: 'For people: which limit denied the call, and what would allow it' }),
  })
  .meta({ id: 'BudgetDenial', description: 'The limit with the least remaining, if there are several' });

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
export function toLimitFields(limit: Omit<LimitRow, 'remainingMicros'>) {
  return {
    scope: limit.scope,
    scope_id: limit.scopeId,
    daily_budget_usd_micros: limit.dailyBudgetMicros,
    spent_micros: limit.spentMicros,
    held_micros: limit.heldMicros,
    resets_at: toMoment(limit.resetsAt),
  };
}

export function toLimitRow(row: LimitRow): z.output<typeof limitRow> {
  return { ...toLimitFields(row), remaining_micros: row.remainingMicros };
}

/** Epoch milliseconds in the format of answers. */
export function toMoment(time: number): string {
  return new Date(time).toISOString();
}
