import { budgetSpanAt, type BudgetPeriod, countedSince, rollingStepMs, type TimeSpan } from '@tollkeeper/kernel';
import type { AccountKey, Op, Period } from './journal.ts';
import { type Account, addTo, applyOp, EMPTY_ACCOUNT, hasRoomFor, KEEP_MS, type Ledger, newAccount } from './ledger.ts';
import type { Limit, LimitOfBudget } from './limit.ts';

/** The period of a meter that contains a time, and whether the ledger has it. */
export interface FoundPeriod extends Period {
  isOpen: boolean;
}

/**
 * The period of the budget at the time: that of the ledger, or the one to open. It never overlaps others of its meter:
 * a changed time zone or fiscal start does not affect open periods, only the end of the next one. Null if the budget is
 * for none then, or for one to which nothing can be posted any more.
 */
export function findPeriod(
  ledger: Ledger,
  { meter, period }: Pick<LimitOfBudget, 'meter' | 'period'>,
  at: number,
  { timezone, now }: { timezone: string; now: number },
): FoundPeriod | null {
  const periods = ledger.periods(meter);
  const open = periods.findLast(({ start, end }) => start <= at && at < end);
  if (open !== undefined) return { ...open, isOpen: true };
  const span = budgetSpanAt(period, timezone, at);
  if (span === null) return null;
  const before = periods.findLast(({ end }) => end <= at);
  const after = periods.find(({ start }) => start > at);
  const start = Math.max(span.start, before?.end ?? span.start);
  const end = Math.min(span.end, after?.start ?? span.end);
  const until = keptUntil(period, end);
  return until <= now ? null : { start, end, until, isOpen: false };
}

/** What counts in the period of a budget: that of its account, or the sum over the steps of a rolling one. */
export function countedIn(
  ledger: Ledger,
  budget: LimitOfBudget,
  current: Period,
): { account: Readonly<Account>; resetsAt: number } {
  const { period } = budget;
  if (period.kind !== 'rolling') {
    return { account: ledger.readAccount(accountIn(budget, current)) ?? EMPTY_ACCOUNT, resetsAt: current.end };
  }
  const sum = newAccount();
  let resetsAt = current.until;
  for (const step of countedPeriods(ledger, budget, current)) {
    const account = ledger.readAccount(accountIn(budget, step));
    if (account === undefined) continue;
    addTo(sum, account);
    // One that was released leaves no room when it leaves.
    if (account.posted + account.held > 0) resetsAt = Math.min(resetsAt, step.until);
  }
  return { account: sum, resetsAt };
}

/** The open periods whose spend counts in the period: several only for a rolling one, of which they are the steps. */
export function countedPeriods(
  ledger: Ledger,
  { meter, period }: Pick<LimitOfBudget, 'meter' | 'period'>,
  current: Period,
): readonly Period[] {
  if (period.kind !== 'rolling') return [current];
  const since = countedSince(period, current);
  return ledger.periods(meter).filter(({ start }) => start >= since && start <= current.start);
}

/** A rolling period as a whole, of which the ledger has the steps. */
export function wholePeriod({ period }: LimitOfBudget, { start, end }: TimeSpan): TimeSpan {
  return { start: countedSince(period, { start, end }), end };
}

/** The accounts in which spend of a time counts besides those of daily budgets, and the ops that open their periods. */
export function placesOf(
  ledger: Ledger,
  limits: readonly Limit[],
  at: number,
  when: { timezone: string; now: number },
): { accounts: AccountKey[]; opened: Op[] } {
  const accounts: AccountKey[] = [];
  const opened: Op[] = [];
  for (const { budget } of limits) {
    // Meters of budgets that are newer than the ledger have not begun to count.
    if (budget === undefined || !ledger.metering.meters.has(budget.meter)) continue;
    const found = findPeriod(ledger, budget, at, when);
    if (found === null) continue;
    const account = accountIn(budget, found);
    if (!found.isOpen) {
      const { start, end, until } = found;
      const op: Op = { op: 'period', meter: budget.meter, start, end, until };
      applyOp(ledger, op);
      opened.push(op);
    }
    if (hasRoomFor(ledger, account)) accounts.push(account);
  }
  return { accounts, opened };
}

export function accountIn({ meter, value }: LimitOfBudget, { start }: Pick<TimeSpan, 'start'>): AccountKey {
  return [meter, start, value];
}

/** Until when spend of a period can matter: late spend for some days, but that of a step only until it has left. */
function keptUntil(period: BudgetPeriod, end: number): number {
  return period.kind === 'rolling' ? end - rollingStepMs(period) + period.seconds * 1000 : end + KEEP_MS;
}
