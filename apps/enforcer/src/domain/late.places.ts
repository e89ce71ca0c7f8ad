import { AppError } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import { placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import type { AccountKey, Hold, Op } from './journal.ts';
import type { Ledger } from './ledger.ts';

const BUDGETS_UNKNOWN =
  'The reservation or lease has ended, and the budgets in which its spend counts cannot be read right now. Try again shortly.';

/** Meters that have begun since the grant count its late spend as well. */
export function placesOfGrant(
  ledger: Ledger,
  grant: Hold,
  { budgets, now }: { budgets: ActiveBudgets | undefined; now: number },
): { accounts: readonly AccountKey[]; opened: Op[] } {
  const timezone = findDay(ledger, now)?.timezone;
  const isBudgeted = ledger.metering.meters.size > 0;
  if (!isBudgeted || timezone === undefined) return { accounts: grant.accounts ?? [], opened: [] };
  if (budgets === undefined) throw new AppError('service_unavailable', BUDGETS_UNKNOWN, { retryAfterSeconds: 1 });
  const { createdAt } = grant;
  return placesOf(ledger, budgets.limitsFor(budgetedCall(grant), createdAt), createdAt, { timezone, now });
}
