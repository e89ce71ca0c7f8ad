import { AppError } from '@tollkeeper/kernel';
import { type Context, findHold, type Found, type Needs, NONE } from './decision.ts';
import { endOf, type Hold, isLeaseId, type OpOf } from './journal.ts';
import type { FoundHold } from './grant.ts';
import { applyOp, type Ledger } from './ledger.ts';
import type { Lease } from './lease.ts';

export function findLease(ledger: Ledger, id: string, context: Context): Found | { needs: Needs } {
  return isLeaseId(id) ? findHold(ledger, id, context) : NONE;
}

/** The lease that was found, as it was granted or is held. */
export function leaseHold(found: FoundHold): Hold {
  return 'hold' in found ? found.hold : found.grant;
}

/** A lease as its callers see it. One past its time counts as expired even before the journal says so. */
export function toLease(found: FoundHold, now: number): Lease {
  const hold = leaseHold(found);
  const { id, requestId, agentId, planKey, createdAt } = hold;
  const { model = null, provider = null, keyId = null, labels = {} } = hold;
  const end = 'end' in found ? found.end : hold;
  const { amountMicros, settledMicros } = ('lease' in end ? end.lease : undefined) ?? hold.lease!;
  const isOpen = 'hold' in found && hold.expiresAt > now;
  const isReturned = 'end' in found && found.end.op === 'release';
  return {
    ...{ id, requestId, agentId, planKey, createdAt, model, provider, keyId, labels, amountMicros, settledMicros },
    leftMicros: isOpen ? hold.amountMicros : 0,
    state: isOpen ? 'open' : isReturned ? 'returned' : 'expired',
    expiresAt: end.expiresAt,
    expiresInMs: isOpen ? hold.expiresAt - now : 0,
  };
}

/** Frees what is left of an open lease. `lease` is the lease as it was. */
export function returnOf(ledger: Ledger, hold: Hold, lease: Lease): { op: OpOf<'release'>; lease: Lease } {
  const op = { op: 'release' as const, ...endOf(hold) };
  applyOp(ledger, op);
  return { op, lease: { ...lease, state: 'returned', leftMicros: 0, expiresInMs: 0 } };
}

export const noSuchLease = () =>
  new AppError(
    'not_found',
    'This workspace has no lease with that id, or it is older than three days. Report the costs of its calls as spend.settled events.',
  );
