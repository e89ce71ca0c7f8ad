import { AppError } from '@tollkeeper/kernel';
import { placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import { type Ask, findReservation, type Found, noSuchReservation, toReservation } from './decision.ts';
import { type Hold, keys, type Op, type OpOf, type Posting } from './journal.ts';
import { applyOp, KEEP_MS, type Ledger, MAX_AHEAD_MS } from './ledger.ts';
import type { Limit } from './limit.ts';
import type { Reservation, Settlement } from './reservation.ts';

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
export function settle(id: string, settlement: Pick<Settlement, 'settlementId' | 'amountMicros'>): Ask<Reservation> {
  return {
    decide(ledger, context) {
      const found = findReservation(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchReservation() };
      if (isUnsettled(found)) {
        // Without a look-up it counts as new: the journal refuses a settlement that it already has.
        const counted = context.find(keys.settlement(settlement.settlementId)) ?? null;
        if (isOfAnother(counted, id)) return conflict(SETTLEMENT_OF_ANOTHER);
        const op = write(ledger, found, settlement, counted);
        const { settlementId } = settlement;
        const facts = toReservation(found, context.now);
        return { ops: [op], answer: { ...facts, state: 'settled', settledMicros: op.micros, settlementId } };
      }
      if (found.end.op === 'release') return conflict(`The reservation was released. ${REPORT_INSTEAD}`);
      const settled = toReservation(found, context.now);
      if (settled.settlementId === settlement.settlementId) return { ops: [], answer: settled };
      return conflict(`The reservation has another settlement. ${REPORT_INSTEAD}`);
    },
  };
}

/** Spend that an event reports. */
export interface ReportedSpend {
  settlementId: string;
  reservationId: string | null;
  agentId: string;
  planKey: string | null;
  micros: number;
  /** Time of the event, epoch milliseconds. */
  at: number;
}

/** The result of reported spend. `too_old`: its time is more than three days ago, so it counts for no limit. */
type PostOutcome = 'settled' | 'late' | 'unreserved' | 'duplicate' | 'too_old';

/** `posting` says which accounts have the spend, even if it was posted before; null if that is unknown. */
export interface Posted {
  outcome: PostOutcome;
  posting: Posting | null;
}

/**
 * Posts spend that an event reports, which is never refused. It settles its reservation if it names one, otherwise it
 * counts for the day of its time, and for the periods of `limits` then. A settlement counts once, however often and by
 * whichever way it arrives.
 */
export function post(spend: ReportedSpend, now: number, limits: readonly Limit[] = []): Ask<Posted> {
  const isTooOld = spend.at < now - KEEP_MS;
  // Opening a day far ahead would displace the days that are kept.
  const at = spend.at > now + MAX_AHEAD_MS ? now : spend.at;
  return {
    isFromLog: true,
    ...(!isTooOld && { at }),
    limits,
    decide(ledger, context) {
      const { settlementId, reservationId, agentId, planKey, micros } = spend;
      const counted = context.find(keys.settlement(settlementId));
      if (counted === undefined) return { needs: { keys: [keys.settlement(settlementId)] } };
      const isItsOwn = reservationId !== null && !isOfAnother(counted, reservationId);
      const found = isItsOwn ? findReservation(ledger, reservationId, context) : NONE;
      if ('needs' in found) return found;
      if (isUnsettled(found)) {
        const op = write(ledger, found, { settlementId, amountMicros: micros }, counted);
        if (counted !== null) return { ops: [op], answer: duplicate(counted, found) };
        const outcome = 'hold' in found ? 'settled' : 'late';
        return { ops: [op], answer: { outcome, posting: postingOf('hold' in found ? found.hold : found.grant) } };
      }
      if (counted !== null) return { ops: [], answer: duplicate(counted, found) };
      const day = findDay(ledger, at);
      if (isTooOld || day === undefined) return { ops: [], answer: { outcome: 'too_old', posting: null } };
      const { accounts, opened } = placesOf(ledger, limits, at, { timezone: day.timezone, now });
      const posting = postingOf({ day: day.start, agentId, planKey, accounts });
      const op: Op = { op: 'post', settlementId, ...posting, micros };
      applyOp(ledger, op);
      return { ops: [...opened, op], answer: { outcome: 'unreserved', posting } };
    },
  };
}

const NONE: Found = { none: true };

type Unsettled = { hold: Hold } | { grant: OpOf<'grant'>; end: OpOf<'expire'> };

/** Whether spend under the reservation may still be posted to it. */
function isUnsettled(found: Found): found is Unsettled {
  return 'hold' in found || ('end' in found && found.end.op === 'expire');
}

/** Whether the settlement already counted for another reservation. */
function isOfAnother(counted: Op | null, id: string): boolean {
  return counted !== null && (counted.op === 'settle' || counted.op === 'late') && counted.id !== id;
}

/** Ends the reservation, and posts the amount unless it was already `counted`. */
function write(
  ledger: Ledger,
  found: Unsettled,
  { settlementId, amountMicros }: Pick<Settlement, 'settlementId' | 'amountMicros'>,
  counted: Op | null,
): OpOf<'settle' | 'late'> {
  const micros = counted !== null && 'micros' in counted ? counted.micros : amountMicros;
  const common = { settlementId, micros, counted: counted !== null };
  const op: OpOf<'settle' | 'late'> =
    'hold' in found
      ? { op: 'settle', id: found.hold.id, expiresAt: found.hold.expiresAt, ...common }
      : { op: 'late', id: found.grant.id, expiresAt: found.end.expiresAt, ...common, ...postingOf(found.grant) };
  applyOp(ledger, op);
  return op;
}

/** Spend that was already counted. The thresholds that it reached may not have been reported yet. */
function duplicate(counted: Op, found: Found): Posted {
  const isPosted = counted.op === 'post' || counted.op === 'late';
  const posting = isPosted ? counted : 'grant' in found ? found.grant : null;
  return { outcome: 'duplicate', posting: posting && postingOf(posting) };
}

function postingOf({ day, agentId, planKey, accounts = [] }: Posting): Posting {
  return { day, agentId, planKey, ...(accounts.length > 0 && { accounts }) };
}

function conflict(message: string): { refusal: AppError } {
  return { refusal: new AppError('conflict', message) };
}
