import type { ActiveBudgets } from './active.budgets.ts';
import type { Ask } from './decision.ts';
import { type Applying, decideGrant, type GrantKind } from './grant.ts';
import { leaseIdOf } from './journal.ts';
import { toLease } from './lease.find.ts';
import type { LeaseDecision, LeaseRequest } from './lease.ts';
import { lastEnd, shareOf } from './lease.size.ts';

/** A request and what applies to it. */
export type LimitedLease = LeaseRequest & Applying;

/**
 * Grants or denies a lease ({@link decideGrant}): what the request wishes for, or the largest share of the limits that
 * is not less than it needs. If a limit has no room for that, it denies.
 */
export function grantLease(request: LimitedLease, budgets?: ActiveBudgets): Ask<LeaseDecision> {
  const kind = leaseFor(request);
  return {
    limits: request.limits,
    ...(budgets && { budgets }),
    decide: (ledger, context) => decideGrant(request, kind, ledger, context),
  };
}

function leaseFor({
  minMicros,
  amountMicros: wishedMicros,
  ttlSeconds,
  limits,
}: LimitedLease): GrantKind<LeaseDecision> {
  return {
    idOf: leaseIdOf,
    neededMicros: minMicros,
    isDry: false,
    isSame: ({ lease }) => lease?.wishedMicros === wishedMicros && lease.minMicros === minMicros,
    toGrant(what, on) {
      const place = { ...on, limits };
      const amountMicros = Math.min(wishedMicros, Math.max(minMicros, shareOf(place, what, 0)));
      const lease = { amountMicros, settledMicros: 0, wishedMicros, minMicros };
      const expiresAt = Math.min(on.now + ttlSeconds * 1000, lastEnd(place));
      return { op: 'lease', ...what, runId: '', amountMicros, expiresAt, lease };
    },
    allow: (found, limits, now) => ({ decision: 'allowed', lease: toLease(found!, now), limits }),
  };
}
