import { type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import type { Ask } from './decision.ts';
import type { FoundHold } from './grant.ts';
import { type Hold, keys, type Op, type OpOf, type Posting } from './journal.ts';
import { findLease, leaseHold, noSuchLease, returnOf, toLease } from './lease.find.ts';
import type { Lease, LeaseSettlement, SettlementOutcome, SettlementResult } from './lease.ts';
import { applyOp, type Ledger } from './ledger.ts';
import { placesOfGrant } from './late.places.ts';
import { microsOf, postingOf, reservationOf } from './settlement.ops.ts';

/** How many settlements are as large in the journal as one other request. */
const SETTLEMENTS_PER_WEIGHT = 4;

export type DrawnSpend = Pick<LeaseSettlement, 'settlementId' | 'amountMicros'>;

/**
 * Settles calls from a lease. Each settlement counts once: those that the journal has are left out. What is new is
 * posted in full to the periods of the grant, even if the lease has ended. A lease whose calls are paused is returned
 * afterwards, so that its gateway asks again.
 */
export function settleLease(
  id: string,
  settlements: readonly DrawnSpend[],
  budgets?: ActiveBudgets,
): Ask<{ lease: Lease; results: SettlementResult[] }> {
  return {
    ...(budgets !== undefined && { budgets }),
    weight: Math.ceil(settlements.length / SETTLEMENTS_PER_WEIGHT),
    decide(ledger, context) {
      const found = findLease(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchLease() };
      const fresh = new Map<string, number>();
      const outcome = 'hold' in found ? 'settled' : 'late';
      const results = settlements.map(({ settlementId, amountMicros: micros }): SettlementResult => {
        const again = fresh.get(settlementId);
        if (again !== undefined) return { settlementId, outcome, micros: again };
        // Without a look-up it counts as new: the journal refuses a settlement that it already has.
        const counted = context.find(keys.settlement(settlementId)) ?? null;
        if (counted !== null) return toResult(id, settlementId, counted);
        fresh.set(settlementId, micros);
        return { settlementId, outcome, micros };
      });
      const { ops } = drawFrom(ledger, found, [...fresh], { budgets, now: context.now });
      const now = 'hold' in found ? { hold: ledger.hold(id)! } : found;
      const lease = toLease(now, context.now);
      if (!('hold' in now) || !isPaused(now.hold, budgets, context.now)) return { ops, answer: { lease, results } };
      const returned = returnOf(ledger, now.hold, lease);
      return { ops: [...ops, returned.op], answer: { lease: returned.lease, results } };
    },
  };
}

function toResult(id: string, settlementId: string, counted: Op): SettlementResult {
  return { settlementId, outcome: outcomeOf(id, counted), micros: microsOf(counted, settlementId) ?? 0 };
}

function outcomeOf(id: string, counted: Op): SettlementOutcome {
  const of = reservationOf(counted);
  if (of === null) return 'unreserved';
  if (of !== id) return 'conflict';
  return counted.op === 'draw' ? 'settled' : 'late';
}

/** Whether the calls of the lease are paused, as it was granted. */
export function isPaused(hold: Hold, budgets: ActiveBudgets | undefined, now: number): boolean {
  // Most workspaces have no pauses, and then the facts of the call are not needed.
  return budgets !== undefined && budgets.pauses.count > 0 && budgets.pauses.of(budgetedCall(hold), now) !== null;
}

/** Posts what was settled from a lease, if anything: late if the lease has ended. */
export function drawFrom(
  ledger: Ledger,
  found: FoundHold,
  settlements: OpOf<'draw'>['settlements'],
  now: { budgets: ActiveBudgets | undefined; now: number },
): { ops: Op[]; posting: Posting } {
  const lease = leaseHold(found);
  if (settlements.length === 0) return { ops: [], posting: postingOf(lease) };
  const { id } = lease;
  if ('hold' in found) {
    const op: Op = { op: 'draw', id, settlements };
    applyOp(ledger, op);
    return { ops: [op], posting: postingOf(lease) };
  }
  const { accounts, opened } = placesOfGrant(ledger, lease, now);
  const posting = postingOf({ ...lease, accounts });
  const op: Op = { op: 'draw_late', id, settlements, ...posting };
  applyOp(ledger, op);
  return { ops: [...opened, op], posting };
}
