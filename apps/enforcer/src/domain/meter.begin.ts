import { type ActiveBudget, type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import { findPeriod, placesOf, wholePeriod } from './budget.period.ts';
import { findDay } from './day.ts';
import type { Op } from './journal.ts';
import { applyOp, type Ledger, MAX_AHEAD_MS } from './ledger.ts';
import type { Meter } from './metering.ts';

/** Maximum number of open reservations in one entry, times its meters, so that it stays far below 16 MiB. */
const MAX_ADOPTED = 25_000;
/** Maximum memory of open reservations with their accounts, in bytes, and what an account takes of it at least. */
const MAX_HOLD_BYTES = 96 * 1024 * 1024;
const ACCOUNT_KEY_BYTES = 150;
/** For how long after its beginning a meter can be filled: the journal knows for four days which entry posted spend. */
const FILLABLE_MS = 3 * 86_400_000;

/**
 * Begins the meters of budgets that the ledger does not know, and forgets those of others. It is decided before the
 * calls of the same entry, so from this entry on, all of them count. Open reservations are adopted. With very many of
 * these, some meters are left for later entries. What is forgotten begins again in another entry.
 */
export function beginMeters(ledger: Ledger, budgets: ActiveBudgets, { seq, now }: { seq: number; now: number }): Op[] {
  const { meters } = ledger.metering;
  const ops: Op[] = [];
  const gone = new Set<string>();
  for (const [name, meter] of meters) if (!budgets.knows(name) || isOutdated(meter, now)) gone.add(name);
  const missing = budgets.all.filter(({ meter }) => !meters.has(meter));
  // Of a ledger that was rebuilt without its snapshot, periods may be left without their meter.
  for (const { meter } of missing) if (ledger.periods(meter).length > 0) gone.add(meter);
  if (gone.size > 0) ops.push(applied(ledger, { op: 'forget', meters: [...gone] }));

  const begun = missing.filter(({ meter }) => !gone.has(meter)).slice(0, roomFor(ledger));
  if (begun.length === 0) return ops;
  const day = findDay(ledger, now);
  if (day === undefined) throw new Error('The running day is not open');
  const when = { timezone: day.timezone, now };
  const starts: [string, number | null][] = [];
  for (const budget of begun) {
    const { from, opened } = beginningOf(ledger, budget, when);
    ops.push(...opened);
    starts.push([budget.meter, from]);
  }
  ops.push(applied(ledger, { op: 'begin', cut: seq, at: now, meters: starts }));
  const names = new Set(begun.map(({ meter }) => meter));
  for (const hold of [...ledger.holds()]) {
    const limits = budgets.limitsFor(budgetedCall(hold), hold.createdAt, names);
    const { accounts, opened } = placesOf(ledger, limits, hold.createdAt, when);
    ops.push(...opened);
    if (accounts.length > 0) ops.push(applied(ledger, { op: 'adopt', id: hold.id, accounts }));
  }
  return ops;
}

/**
 * From when on spend counts in the running period, which is opened, so that a new time zone does not move it. Null if
 * the budget is for none any more.
 */
function beginningOf(
  ledger: Ledger,
  budget: ActiveBudget,
  when: { timezone: string; now: number },
): { from: number | null; opened: Op[] } {
  const { meter, period } = budget;
  const current = findPeriod(ledger, budget, when.now, when);
  if (current === null) {
    // Spend may be ahead of the clock.
    const isAhead = period.kind === 'once' && period.start > when.now && period.start <= when.now + MAX_AHEAD_MS;
    return { from: isAhead ? period.start : null, opened: [] };
  }
  const from = wholePeriod({ ...budget, value: '' }, current).start;
  const { start, end, until, isOpen } = current;
  return { from, opened: isOpen ? [] : [applied(ledger, { op: 'period', meter, start, end, until })] };
}

/** How many meters may begin in one entry. */
function roomFor({ holdCount, holdBytes }: Ledger): number {
  if (holdCount === 0) return Infinity;
  const bytes = Math.max(0, MAX_HOLD_BYTES - holdBytes) / (holdCount * ACCOUNT_KEY_BYTES);
  return Math.floor(Math.min(bytes, Math.max(1, MAX_ADOPTED / holdCount)));
}

function isOutdated({ isExact, at }: Meter, now: number): boolean {
  return !isExact && at < now - FILLABLE_MS;
}

function applied(ledger: Ledger, op: Op): Op {
  applyOp(ledger, op);
  return op;
}
