import type { DenialCode } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import type { Decision } from '../domain/enforcement.ts';
import type { Denial } from '../domain/limit.ts';
import { limitInForce } from '../domain/limit.rows.ts';
import { denialCodeOf } from '../domain/pause.denial.ts';
import type { Reservation } from '../domain/reservation.ts';

/** The APIs in whose format a caller may expect errors. */
export const ERROR_FORMATS = ['openai', 'anthropic'] as const;
export type ErrorFormat = (typeof ERROR_FORMATS)[number];

const BODIES: Record<ErrorFormat, (message: string, code: DenialCode) => object> = {
  openai: (message, code) => ({ error: { message, type: code, param: null, code } }),
  anthropic: (message) => ({ type: 'error', error: { type: 'rate_limit_error', message } }),
};

/** What the caller of a denied call gets from its proxy. */
export interface DeniedAnswer {
  headers: Record<string, string>;
  body: string;
}

/** Amounts in headers are USD micros, times whole seconds from now. */
export function deniedAnswer(denial: Denial, format: ErrorFormat, now: number): DeniedAnswer {
  const resetSeconds = String(Math.max(1, Math.ceil((denial.resetsAt - now) / 1000)));
  return {
    headers: {
      'content-type': 'application/json',
      'retry-after': resetSeconds,
      'x-ratelimit-limit': String(limitInForce(denial)),
      'x-ratelimit-remaining': String(denial.remainingMicros),
      'x-ratelimit-reset': resetSeconds,
    },
    body: JSON.stringify(BODIES[format](denial.message, denialCodeOf(denial))),
  };
}

/** The header by which the model, and whoever is behind it, gets the id of the reservation. */
export const RESERVATION_HEADER = 'x-tollkeeper-reservation';

/** For access logs, which then report the reservation with the cost of its call. */
export function reservationMetadata(reservation: Reservation) {
  return { fields: { reservation_id: { stringValue: reservation.id } } };
}

/** The call of a reservation that has ended was already made, so it cannot pay for this one. */
export function requireHeld(decision: Decision, callField: string): void {
  if (decision.decision === 'denied' || decision.reservation === null) return;
  const { state } = decision.reservation;
  if (state === 'held') return;
  const message = `The reservation of the call with this ${callField} is already ${state}. Give each call an id of its own.`;
  throw new AppError('conflict', message, { details: [{ path: callField, message: 'must be new for each call' }] });
}
