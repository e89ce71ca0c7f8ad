import { AppError } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall, type CallFacts } from './active.budgets.ts';
import { placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import {
  type Ask,
  type Context,
  findHold,
  findReservation,
  type Found,
  type Needs,
  NONE,
  noSuchReservation,
  toReservation,
} from './decision.ts';
import type { FoundHold } from './grant.ts';
import { type Hold, keys, type Op, type OpOf, type Posting, REQUEST_ID_MS, reservationIdOf } from './journal.ts';
import { placesOfGrant } from './late.places.ts';
import { leaseHold } from './lease.find.ts';
import { drawFrom } from './lease.settle.ts';
import { applyOp, KEEP_MS, type Ledger, MAX_AHEAD_MS } from './ledger.ts';
import type { Reservation, Settlement } from './reservation.ts';
import { microsOf, postingOf, reservationOf } from './settlement.ops.ts';

/** The message of a `conflict`: nothing was posted. */
export const SETTLEMENT_OF_ANOTHER =
  'This settlement_id belongs to another reservation, so nothing was posted. Use a new id for each call.';

/** How to report spend that cannot be settled. */
const REPORT_INSTEAD =
  'If this amount was spent in addition, report it as a spend.settled event. It counts as unreserved spend.';

/**
 * Settles a reservation by a call of its gateway. The spend is posted in full to the day of the grant, even if the hold
 * has expired. If an event already counted the settlement, this only ends the hold.
 */
export function settle(
  id: string,
  settlement: Pick<Settlement, 'settlementId' | 'amountMicros'>,
  budgets?: ActiveBudgets,
): Ask<Reservation> {
  return {
    ...(budgets !== undefined && { budgets }),
    decide(ledger, context) {
      const found = findReservation(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchReservation() };
      if (isUnsettled(found)) {
        // Without a look-up it counts as new: the journal refuses a settlement that it already has.
        const counted = context.find(keys.settlement(settlement.settlementId)) ?? null;
        if (isOfAnother(counted, id)) return conflict(SETTLEMENT_OF_ANOTHER);
        const { ops, micros } = write(ledger, found, settlement, counted, { budgets, now: context.now });
        const { settlementId } = settlement;
        const facts = toReservation(found, context.now);
        return { ops, answer: { ...facts, state: 'settled', settledMicros: micros, settlementId } };
      }
      if (found.end.op === 'release') return conflict(`The reservation was released. ${REPORT_INSTEAD}`);
      const settled = toReservation(found, context.now);
      if (settled.settlementId === settlement.settlementId) return { ops: [], answer: settled };
      return conflict(`The reservation has another settlement. ${REPORT_INSTEAD}`);
    },
  };
}

/** Spend that an event reports. */
export interface ReportedSpend extends CallFacts {
  settlementId: string;
  reservationId: string | null;
  leaseId?: string | undefined;
  /** The request of its reservation, if the sender says it. It counts where no reservation has the other id. */
  requestId?: string | undefined;
  micros: number;
  /** Time of the event, epoch milliseconds. */
  at: number;
}

/**
 * The result of reported spend. `corrected`: the amount of a settlement changed. `too_old`: its time, or that of the
 * correction, is more than three days ago, so it counts for no limit.
 */
type PostOutcome = 'settled' | 'late' | 'unreserved' | 'corrected' | 'duplicate' | 'too_old';

export interface Posted {
  outcome: PostOutcome;
  /** The accounts that have the spend, even if it was posted before; null if that is unknown. */
  posting: Posting | null;
  /** How it was posted; null for spend that is too old, unless the journal still has it. */
  settled: Settled | null;
}

/** Spend as the journal has it. */
export interface Settled {
  /** Number of the entry that posted it. */
  seq: number;
  micros: number;
  /** The reservation that it settled, if any. */
  grant: Hold | null;
}

/**
 * Posts spend that an event reports, which is never refused. It settles its reservation if it names one, or the request
 * of one that was granted within 24 hours before. Otherwise it counts for the day of its time, and for the periods of
 * budgets then. A settlement counts once, however often and by whichever way it arrives.
 */
export function post(spend: ReportedSpend, now: number, budgets?: ActiveBudgets): Ask<Posted> {
  const isTooOld = spend.at < now - KEEP_MS;
  // Opening a day far ahead would displace the days that are kept.
  const at = spend.at > now + MAX_AHEAD_MS ? now : spend.at;
  const limits = budgets?.limitsFor(budgetedCall(spend), at) ?? [];
  return {
    isFromLog: true,
    ...(!isTooOld && { at }),
    limits,
    ...(budgets && { budgets }),
    decide(ledger, context) {
      const { settlementId, agentId, planKey, micros } = spend;
      const key = keys.settlement(settlementId);
      const counted = context.find(key);
      if (counted === undefined) return { needs: { keys: [key] } };
      const found = findSettled(spend, counted, ledger, context);
      if ('needs' in found) return found;
      // Spend that was posted without a reservation stays so, even if its reservation was granted later.
      const isUnreserved = counted !== null && reservationOf(counted) === null;
      const grant = isUnreserved ? null : 'hold' in found ? found.hold : 'grant' in found ? found.grant : null;
      const lease = leaseIn(found);
      if (lease !== null && counted === null) {
        const { ops, posting } = drawFrom(ledger, lease, [[settlementId, micros]], { budgets, now });
        const settled = { seq: context.seq, micros, grant };
        return { ops, answer: { outcome: 'hold' in lease ? 'settled' : 'late', posting, settled } };
      }
      if (isUnsettled(found)) {
        const settlement = { settlementId, amountMicros: micros };
        const written = write(ledger, found, settlement, counted, { budgets, now });
        const { ops, posting } = written;
        const settled = { seq: context.seqOf(key) ?? context.seq, micros: written.micros, grant };
        if (counted !== null) return { ops, answer: { ...duplicate(counted, found), settled } };
        return { ops, answer: { outcome: 'hold' in found ? 'settled' : 'late', posting, settled } };
      }
      if (counted !== null) {
        const settled = { seq: context.seqOf(key)!, micros: microsOf(counted, settlementId) ?? micros, grant };
        return { ops: [], answer: { ...duplicate(counted, found), settled } };
      }
      const day = findDay(ledger, at);
      if (isTooOld || day === undefined)
        return { ops: [], answer: { outcome: 'too_old', posting: null, settled: null } };
      const { accounts, opened } = placesOf(ledger, limits, at, { timezone: day.timezone, now });
      const posting = postingOf({ day: day.start, agentId, planKey, accounts });
      const op: Op = { op: 'post', settlementId, ...posting, micros };
      applyOp(ledger, op);
      const settled = { seq: context.seq, micros, grant: null };
      return { ops: [...opened, op], answer: { outcome: 'unreserved', posting, settled } };
    },
  };
}

/** The reservation or the lease that the spend settles, or for which it already counted. */
function findSettled(
  { reservationId, leaseId, requestId, at }: ReportedSpend,
  counted: Op | null,
  ledger: Ledger,
  context: Context,
): Found | { needs: Needs } {
  const already = reservationOf(counted);
  const named = already ?? reservationId ?? leaseId ?? null;
  const found = named === null ? NONE : findHold(ledger, named, context);
  if (already !== null || requestId === undefined || !('none' in found)) return found;
  const requested = findReservation(ledger, reservationIdOf(context.tenantId, requestId), context);
  if ('needs' in requested || 'none' in requested) return requested;
  const { createdAt } = 'hold' in requested ? requested.hold : requested.grant;
  return at <= createdAt + REQUEST_ID_MS ? requested : NONE;
}

type Unsettled = { hold: Hold } | { grant: OpOf<'grant' | 'lease'>; end: OpOf<'expire'> };

/** The lease, if it is one. */
function leaseIn(found: Found): FoundHold | null {
  return 'none' in found || leaseHold(found).lease === undefined ? null : found;
}

/** Whether spend under the reservation may still be posted to it. */
function isUnsettled(found: Found): found is Unsettled {
  if (leaseIn(found) !== null) return false;
  return 'hold' in found || ('end' in found && found.end.op === 'expire');
}

/** Whether the settlement already counted for another reservation. */
function isOfAnother(counted: Op | null, id: string): boolean {
  const other = reservationOf(counted);
  return other !== null && other !== id;
}

/** Ends the reservation, and posts the amount unless it was already `counted`. */
function write(
  ledger: Ledger,
  found: Unsettled,
  { settlementId, amountMicros }: Pick<Settlement, 'settlementId' | 'amountMicros'>,
  counted: Op | null,
  now: { budgets: ActiveBudgets | undefined; now: number },
): { ops: Op[]; micros: number; posting: Posting } {
  const micros = microsOf(counted, settlementId) ?? amountMicros;
  const common = { settlementId, micros, counted: counted !== null };
  if ('hold' in found) {
    const { hold } = found;
    const op: Op = { op: 'settle', id: hold.id, expiresAt: hold.expiresAt, ...common };
    applyOp(ledger, op);
    return { ops: [op], micros, posting: postingOf(hold) };
  }
  const { grant, end } = found;
  const { accounts, opened } = placesOfGrant(ledger, grant, now);
  const posting = postingOf({ ...grant, accounts });
  const op: Op = { op: 'late', id: grant.id, expiresAt: end.expiresAt, ...common, ...posting };
  applyOp(ledger, op);
  return { ops: [...opened, op], micros, posting };
}

/** Spend that was already counted. The thresholds that it reached may not have been reported yet. */
function duplicate(counted: Op, found: Found): Pick<Posted, 'outcome' | 'posting'> {
  const isPosted = counted.op === 'post' || counted.op === 'late' || counted.op === 'draw_late';
  const posting = isPosted ? counted : 'none' in found ? null : leaseHold(found);
  return { outcome: 'duplicate', posting: posting && postingOf(posting) };
}

function conflict(message: string): { refusal: AppError } {
  return { refusal: new AppError('conflict', message) };
}
