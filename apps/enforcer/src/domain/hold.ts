import type { Cause } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { type Ask, findReservation, noSuchReservation, toReservation } from './decision.ts';
import { endOf, type Op, reservationIdOf } from './journal.ts';
import { applyOp } from './ledger.ts';
import type { Reservation } from './reservation.ts';

/** Maximum time from a grant to the end of its hold, including all extensions. */
const MAX_HOLD_MS = 24 * 3_600_000;

/** Frees the hold of a reservation. A released or expired one stays as it is. `cause` is set if a person asks. */
export function release(id: string, cause?: Cause): Ask<Reservation> {
  return {
    decide(ledger, context) {
      const found = findReservation(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchReservation() };
      const reservation = toReservation(found, context.now);
      if (reservation.state === 'settled') return conflict('The reservation is settled, so it cannot be released.');
      if (!('hold' in found)) return { ops: [], answer: reservation };
      const op: Op = { op: 'release', ...endOf(found.hold) };
      applyOp(ledger, op);
      const answer: Reservation = { ...reservation, state: 'released' };
      if (cause === undefined) return { ops: [op], answer };
      const target = { type: 'reservation', id, name: reservation.agentId };
      const changes = [{ field: 'state', from: reservation.state, to: answer.state }];
      return { ops: [op], answer, audited: { cause, target, changes } };
    },
  };
}

/** Extends the hold to `ttlSeconds` from now. */
export function extend(id: string, ttlSeconds: number): Ask<Reservation> {
  return {
    decide(ledger, context) {
      const found = findReservation(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchReservation() };
      const reservation = toReservation(found, context.now);
      if (reservation.state !== 'held')
        return conflict(`The reservation is already ${reservation.state}. Create a new one for the next call.`);
      const expiresAt = context.now + ttlSeconds * 1000;
      if (expiresAt > reservation.createdAt + MAX_HOLD_MS) {
        return conflict('A reservation can stay open for at most 24 hours. Settle it and create a new one.');
      }
      const op: Op = { op: 'extend', id, expiresAt };
      applyOp(ledger, op);
      return { ops: [op], answer: { ...reservation, expiresAt } };
    },
  };
}

/** How long the hold of a failed call stays: gateways may try again under the same id. */
const RETRY_MS = 10_000;

/** An attempt of the call of a request has failed. Unless another one is settled soon, its reservation is released. */
export function fail(requestId: string): Ask<void> {
  return {
    isFromLog: true,
    decide(ledger, { tenantId, now }) {
      const hold = ledger.hold(reservationIdOf(tenantId, requestId));
      if (hold === undefined) return { ops: [], answer: undefined };
      const latest = hold.failed ? hold.createdAt + MAX_HOLD_MS : hold.expiresAt;
      const op: Op = { op: 'extend', id: hold.id, expiresAt: Math.min(now + RETRY_MS, latest), failed: true };
      applyOp(ledger, op);
      return { ops: [op], answer: undefined };
    },
  };
}

/** Finds the newest state of a reservation. */
export function read(id: string): Ask<Reservation> {
  return {
    decide(ledger, context) {
      if (!context.isNewest) return { needs: { newest: true } };
      const found = findReservation(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchReservation() };
      return { ops: [], answer: toReservation(found, context.now) };
    },
  };
}

function conflict(message: string): { refusal: AppError } {
  return { refusal: new AppError('conflict', message) };
}
