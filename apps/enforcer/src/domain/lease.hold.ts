import type { Cause } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import { accountIn, findPeriod } from './budget.period.ts';
import { findDay } from './day.ts';
import { type Ask, type Decided, NEWEST } from './decision.ts';
import { type Applying, labelsOf, reused } from './grant.ts';
import { type Hold, keys, type Op } from './journal.ts';
import { findLease, leaseHold, noSuchLease, returnOf, toLease } from './lease.find.ts';
import { isPaused } from './lease.settle.ts';
import type { Lease, RenewalRequest } from './lease.ts';
import { lastEnd, type LeasePlace, shareOf } from './lease.size.ts';
import { applyOp, hasRoomFor, type Ledger } from './ledger.ts';
import type { DailyLimit } from './limit.ts';
import { withRaises } from './limit.rows.ts';

/** Finds the newest state of a lease. */
export function readLease(id: string): Ask<Lease> {
  return {
    decide(ledger, context) {
      if (!context.isNewest) return NEWEST;
      const found = findLease(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchLease() };
      return { ops: [], answer: toLease(found, context.now) };
    },
  };
}

/**
 * The lease as it was granted, which is what its events say of it, and which of the settlements are counted, for
 * whatever reservation or lease.
 */
export function readGrant(
  id: string,
  settlementIds: readonly string[] = [],
): Ask<{ lease: Hold; counted: ReadonlySet<string> }> {
  return {
    decide(ledger, context) {
      const found = findLease(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchLease() };
      const unknown = settlementIds.map(keys.settlement).filter((key) => context.find(key) === undefined);
      if (unknown.length > 0) return { needs: { keys: unknown } };
      const counted = new Set(settlementIds.filter((each) => context.find(keys.settlement(each)) !== null));
      return { ops: [], answer: { lease: leaseHold(found), counted } };
    },
  };
}

/** Frees what is left of a lease. One that has ended stays as it is. `cause` is set if a person asks. */
export function returnLease(id: string, cause?: Cause): Ask<Lease> {
  return {
    decide(ledger, context) {
      const found = findLease(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchLease() };
      const lease = toLease(found, context.now);
      if (!('hold' in found)) return { ops: [], answer: lease };
      const { op, lease: answer } = returnOf(ledger, found.hold, lease);
      if (cause === undefined) return { ops: [op], answer };
      const target = { type: 'lease', id, name: lease.agentId };
      const changes = [
        { field: 'state', from: lease.state, to: answer.state },
        { field: 'left_micros', from: lease.leftMicros, to: 0 },
      ];
      return { ops: [op], answer, audited: { cause, target, changes } };
    },
  };
}

/** What applies now to the calls of a lease, with the key that renews it. */
interface Renewing extends Pick<Applying, 'keyId' | 'pinned' | 'ofAgent'> {
  isPlanUsable: boolean;
  daily: readonly DailyLimit[];
  budgets: ActiveBudgets;
}

/**
 * Makes a lease larger, up to its share of the limits, and longer. It never gets smaller, nor ends sooner. Nothing
 * changes if its calls would count in other budgets or periods now, or are not possible. A lease whose calls are paused
 * is returned.
 */
export function renewLease(id: string, request: RenewalRequest, applying: Renewing): Ask<Lease> {
  return {
    limits: applying.daily,
    budgets: applying.budgets,
    decide(ledger, context) {
      const found = findLease(ledger, id, context);
      if ('needs' in found) return found;
      if ('none' in found) return { refusal: noSuchLease() };
      const { now } = context;
      if ('hold' in found && isPaused(found.hold, applying.budgets, now)) {
        const { op, lease } = returnOf(ledger, found.hold, toLease(found, now));
        return { ops: [op], answer: lease };
      }
      const key = keys.renewal(id, request.requestId);
      const before = context.find(key);
      if (before) return repeated(before, request) ?? { ops: [], answer: toLease(found, now) };
      const place = 'hold' in found ? placeOf(found.hold, ledger, now, applying) : null;
      // The journal refuses a second renewal under the same key, but decisions that append nothing must look first.
      if (place === null && before === undefined) return { needs: { keys: [key] } };
      if (!('hold' in found)) {
        const message = `The lease is already ${toLease(found, now).state}. Ask for another one.`;
        return { refusal: new AppError('conflict', message) };
      }
      if (place === null) return { ops: [], answer: toLease(found, now) };
      const op = renewal(found.hold, request, place);
      applyOp(ledger, op);
      return { ops: [op], answer: toLease({ hold: ledger.hold(id)! }, now) };
    },
  };
}

function repeated(before: Op, { amountMicros, ttlSeconds }: RenewalRequest): Decided<never> | null {
  const isSame = before.op === 'renew' && before.wishedMicros === amountMicros && before.ttlSeconds === ttlSeconds;
  return isSame ? null : { refusal: reused(false) };
}

/** Where the lease is renewed; null if it has to stay as it is. */
function placeOf(hold: Hold, ledger: Ledger, now: number, applying: Renewing): LeasePlace | null {
  if (!applying.isPlanUsable || !isOfSameCalls(hold, applying)) return null;
  const { daily, budgets } = applying;
  const day = findDay(ledger, now);
  if (day === undefined) throw new Error('The running day is not open');
  const limits = [...withRaises(daily, budgets.raises), ...budgets.limitsFor(budgetedCall(hold), now)];
  const place = { ledger, day, now, limits };
  return countsIn(hold, place) ? place : null;
}

/** Whether calls with the key have the labels of the lease. Those that were taken away since its grant stay with it. */
function isOfSameCalls({ keyId, labels = {} }: Hold, applying: Renewing): boolean {
  const now = labelsOf({ ...applying, labels });
  const isSame = (name: string) => Object.hasOwn(labels, name) && now[name] === labels[name];
  return (keyId ?? null) === applying.keyId && Object.keys(now).every(isSame);
}

/** Whether calls of now count in the periods of the lease. Budgets whose meters have not begun do not count yet. */
function countsIn(hold: Hold, { ledger, day, now, limits }: LeasePlace): boolean {
  if (hold.day !== day.start) return false;
  const places = new Set(hold.accounts?.map((key) => key.join('/')));
  return limits.every(({ budget }) => {
    if (budget === undefined || !ledger.metering.meters.has(budget.meter)) return true;
    const period = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
    if (period === null) return true;
    const account = accountIn(budget, period);
    // A budget that only warns counts no further values once it is full, and does not deny their calls.
    return places.has(account.join('/')) || (!budget.denies && !hasRoomFor(ledger, account));
  });
}

function renewal(hold: Hold, request: RenewalRequest, place: LeasePlace) {
  const { id, amountMicros: leftMicros } = hold;
  const { amountMicros: grantedMicros, settledMicros } = hold.lease!;
  const { requestId, amountMicros: wishedMicros, ttlSeconds } = request;
  const wishedMore = wishedMicros - settledMicros - leftMicros;
  const more = Math.max(0, Math.min(wishedMore, shareOf(place, hold, 1)));
  const amountMicros = more === 0 ? grantedMicros : settledMicros + leftMicros + more;
  const expiresAt = Math.max(hold.expiresAt, Math.min(place.now + ttlSeconds * 1000, lastEnd(place)));
  return { op: 'renew', id, requestId, wishedMicros, ttlSeconds, amountMicros, expiresAt } as const;
}
