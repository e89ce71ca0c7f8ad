import { localDays } from '@tollkeeper/kernel';
import type { Day } from './journal.ts';
import type { Ledger } from './ledger.ts';

/** The day of the ledger that has the moment; undefined while nobody has opened it. */
export function findDay(ledger: Ledger, at: number): Day | undefined {
  return ledger.days.findLast(({ start, end }) => start <= at && at < end);
}

/**
 * The day to open for a moment that has none: the local day of the time zone, without what other days of the ledger
 * have of it. So a day that is open stays as it is when the zone changes, and the next one ends as the new zone says.
 */
export function dayToOpen(ledger: Ledger, at: number, timezone: string): Day {
  const [local] = localDays({ start: at, end: at + 1 }, timezone);
  if (local === undefined) throw new Error(`${at} is on no day in ${timezone}`);
  const before = ledger.days.findLast(({ end }) => end <= at);
  const after = ledger.days.find(({ start }) => start > at);
  return {
    start: Math.max(local.start, before?.end ?? local.start),
    end: Math.min(local.end, after?.start ?? local.end),
    timezone,
  };
}
