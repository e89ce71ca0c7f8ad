import { MAX_MICROS } from '@tollkeeper/kernel';
import { findPeriod } from './budget.period.ts';
import type { Day, Hold } from './journal.ts';
import { accountsOf, EMPTY_ACCOUNT, type Ledger } from './ledger.ts';
import type { Limit } from './limit.ts';
import { countsOf, toRow } from './limit.rows.ts';

/** Where and when a lease is granted or renewed. */
export interface LeasePlace {
  ledger: Ledger;
  day: Day;
  now: number;
  limits: readonly Limit[];
}

/**
 * The most that one lease may take more: half of what is left of a limit, divided by the leases on it with the new one.
 * So a further gateway always finds something, and near a limit leases shrink to single calls. What a workspace may
 * hold in all is shared in the same way. `own` is 1 if the lease is one of those that are open.
 */
export function shareOf(
  { ledger, day, now, limits }: LeasePlace,
  { agentId, planKey }: Pick<Hold, 'agentId' | 'planKey'>,
  own: 0 | 1,
): number {
  const shareIn = (roomMicros: number, leases: number) =>
    Math.floor(roomMicros / (2 * (Math.max(0, leases - own) + 1)));
  let share = Number.MAX_SAFE_INTEGER;
  for (const key of accountsOf({ day: day.start, agentId, planKey })) {
    const { held, leases } = ledger.readAccount(key) ?? EMPTY_ACCOUNT;
    share = Math.min(share, shareIn(MAX_MICROS - held, leases));
  }
  for (const limit of limits) {
    if (limit.budget?.denies === false) continue;
    const counts = countsOf(ledger, day, now, limit);
    if (counts === null) continue;
    share = Math.min(share, shareIn(toRow(limit, counts, now).remainingMicros, counts.account.leases));
  }
  return Math.max(0, share);
}

/**
 * When a lease ends at the latest: with its day, and with the first of the periods in which it counts. Of a rolling
 * period, it is the end when its step leaves it: steps are short, and what is spent later still counts in the step. A
 * budget for once does not count it, so it ends before that begins.
 */
export function lastEnd({ ledger, day, now, limits }: LeasePlace): number {
  let end = day.end;
  for (const { budget } of limits) {
    if (budget === undefined) continue;
    const period = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
    if (period !== null) end = Math.min(end, budget.period.kind === 'rolling' ? period.until : period.end);
    else if (budget.period.kind === 'once' && budget.period.start > now) end = Math.min(end, budget.period.start);
  }
  return end;
}
