import type { ActiveBudgets } from './active.budgets.ts';
import { type Ask, toReservation } from './decision.ts';
import type { Decision } from './enforcement.ts';
import { type Applying, decideGrant, type GrantKind } from './grant.ts';
import { reservationIdOf } from './journal.ts';
import type { ReservationRequest } from './reservation.ts';

/** A request and what applies to it. */
export interface LimitedRequest extends ReservationRequest, Applying {
  dryRun: boolean;
}

/** Grants or denies a reservation ({@link decideGrant}). */
export function reserve(request: LimitedRequest, budgets?: ActiveBudgets): Ask<Decision> {
  const kind = reservationFor(request);
  return {
    limits: request.limits,
    ...(budgets && { budgets }),
    decide: (ledger, context) => decideGrant(request, kind, ledger, context),
  };
}

function reservationFor({ runId, amountMicros, ttlSeconds, dryRun }: LimitedRequest): GrantKind<Decision> {
  return {
    idOf: reservationIdOf,
    neededMicros: amountMicros,
    isDry: dryRun,
    isSame: (before) => before.runId === runId && before.amountMicros === amountMicros,
    toGrant: (what, { now }) => ({ op: 'grant', ...what, runId, amountMicros, expiresAt: now + ttlSeconds * 1000 }),
    allow: (found, limits, now) => ({
      decision: 'allowed',
      reservation: found && toReservation(found, now),
      limits,
    }),
  };
}
