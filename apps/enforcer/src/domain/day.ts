import { localDays } from '@tollkeeper/kernel';
import type { Day } from './journal.ts';
import type { Ledger } from './ledger.ts';

/** The open day of the ledger that contains the time; undefined if there is none. */
export function findDay(ledger: Ledger, at: number): Day | undefined {
  return ledger.days.findLast(({ start, end }) => start <= at && at < end);
}

/**
 * The day to open for a time without one: the local day in the time zone, minus what other days of the ledger cover. So
 * a change of the zone does not affect open days, only the end of the next one.
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
