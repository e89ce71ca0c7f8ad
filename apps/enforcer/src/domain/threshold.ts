import type { Ask } from './decision.ts';
import type { Day, Op } from './journal.ts';
import { applyOp, EMPTY_ACCOUNT, type Ledger } from './ledger.ts';
import type { Limit } from './limit.ts';

/** Percentages of a limit that are reported when spend reaches them. */
const REPORTED_PERCENTS = [50, 80, 100] as const;

/** Spend of a day has reached a percentage of a limit. */
export interface ThresholdReached extends Limit {
  day: number;
  /** End of the day, in epoch milliseconds. */
  dayEnd: number;
  percent: number;
  spentMicros: number;
}

/** Finds the thresholds reached but not yet reported on the days that begin at `starts`. */
export function findReached(limits: readonly Limit[], starts: readonly number[]): Ask<ThresholdReached[]> {
  return {
    isFromLog: true,
    decide(ledger) {
      const days = ledger.days.filter(({ start }) => starts.includes(start));
      return { ops: [], answer: days.flatMap((day) => thresholdsReached(ledger, day, limits)) };
    },
  };
}

/**
 * The thresholds reached but not yet reported on the day, by limit, then percentage. Any spend reaches a limit of 0.
 */
function thresholdsReached(ledger: Ledger, day: Day, limits: readonly Limit[]): ThresholdReached[] {
  return limits.flatMap((limit) => {
    const { posted, reported } = ledger.readAccount(day.start, limit) ?? EMPTY_ACCOUNT;
    const { dailyBudgetMicros } = limit;
    return REPORTED_PERCENTS.filter(
      (percent) => percent > reported && posted > 0 && posted / dailyBudgetMicros >= percent / 100,
    ).map((percent) => ({ ...limit, day: day.start, dayEnd: day.end, percent, spentMicros: posted }));
  });
}

/** Records what was reported. */
export function markReported(reached: readonly ThresholdReached[]): Ask<null> {
  return {
    isFromLog: true,
    decide(ledger) {
      const ops = reached.map(({ day, scope, scopeId, percent }): Op => ({
        op: 'report',
        day,
        scope,
        scopeId,
        percent,
      }));
      for (const op of ops) applyOp(ledger, op);
      return { ops, answer: null };
    },
  };
}
