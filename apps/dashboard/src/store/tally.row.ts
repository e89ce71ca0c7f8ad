import type { Tally } from '../domain/tally.ts';

/** A tally as buckets store it and as aggregations answer it. */
export interface TallyRow {
  total_micros: number;
  settlements: number;
  budget_blocked: number;
  guard_blocked: number;
  last_at: Date;
}

export function toTally(row: TallyRow): Tally {
  return {
    totalMicros: row.total_micros,
    settlements: row.settlements,
    budgetBlocked: row.budget_blocked,
    guardBlocked: row.guard_blocked,
    lastAt: row.last_at.getTime(),
  };
}
