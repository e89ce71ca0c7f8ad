import type { Ask } from './decision.ts';
import { findDay } from './day.ts';
import type { LimitsView } from './enforcement.ts';
import { EMPTY_ACCOUNT } from './ledger.ts';
import { rowsOf } from './limit.rows.ts';
import type { Limit } from './limit.ts';

/** The limits on the running day, according to the newest journal entry. */
export function viewLimits(limits: readonly Limit[]): Ask<LimitsView> {
  return {
    decide(ledger, { now, isNewest }) {
      if (!isNewest) return { needs: { newest: true } };
      const day = findDay(ledger, now);
      if (day === undefined) throw new Error('The running day is not open');
      const items = rowsOf(ledger, day, limits).map((row) => {
        const { open, released, expired, overspend } = ledger.readAccount(day.start, row) ?? EMPTY_ACCOUNT;
        return { ...row, openReservations: open, released, expired, overspendMicros: { ...overspend } };
      });
      const { start, end, timezone } = day;
      return { ops: [], answer: { day: { start, end, timezone }, items } };
    },
  };
}
