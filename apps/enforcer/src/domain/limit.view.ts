import { type ActiveBudget, limitFor } from './active.budgets.ts';
import { countedPeriods, findPeriod } from './budget.period.ts';
import type { Ask } from './decision.ts';
import { findDay } from './day.ts';
import type { LimitsView, LimitView } from './enforcement.ts';
import type { Day } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { Limit } from './limit.ts';
import { paceEnd } from './limit.risk.ts';
import { countsOf, toRow } from './limit.rows.ts';
import { filledPercent } from './metering.ts';

/** The limits in their running periods, according to the newest journal entry. */
export function viewLimits(limits: readonly Limit[]): Ask<LimitsView> {
  return view((ledger, day, now) => limits.flatMap((limit) => viewOf(ledger, day, now, limit) ?? []));
}

/** The limit of a budget in its running period, or those of the `maxValues` values with the most spend. */
export function viewBudget(budget: ActiveBudget, maxValues: number): Ask<LimitsView> {
  return view((ledger, day, now) => viewsOf(ledger, day, now, budget, maxValues));
}

function view(itemsOf: (ledger: Ledger, day: Day, now: number) => LimitView[]): Ask<LimitsView> {
  return {
    decide(ledger, { now, isNewest }) {
      if (!isNewest) return { needs: { newest: true } };
      const day = findDay(ledger, now);
      if (day === undefined) throw new Error('The running day is not open');
      const { start, end, timezone } = day;
      return { ops: [], answer: { day: { start, end, timezone }, items: itemsOf(ledger, day, now) } };
    },
  };
}

function viewOf(ledger: Ledger, day: Day, now: number, limit: Limit): LimitView | null {
  const counts = countsOf(ledger, day, now, limit);
  if (counts === null) return null;
  const { open, released, expired, overspend } = counts.account;
  const row = toRow(limit, counts);
  const filled = limit.budget === undefined ? 100 : filledPercent(ledger.metering, limit.budget.meter);
  const view = { openReservations: open, released, expired, overspendMicros: { ...overspend } };
  return { ...row, ...view, filledPercent: filled, paceEndMicros: paceEnd(row, now) };
}

/** Reads each account once, since a budget may have very many, and shows only the values with the most spend. */
function viewsOf(ledger: Ledger, day: Day, now: number, budget: ActiveBudget, maxValues: number): LimitView[] {
  if (budget.each === null) return [viewOf(ledger, day, now, limitFor(budget, '')) ?? []].flat();
  const current = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
  if (current === null) return [];
  const used = new Map<string, number>();
  for (const { start } of countedPeriods(ledger, budget, current)) {
    for (const [value, { posted, held }] of ledger.accountsIn(budget.meter, start)) {
      used.set(value, (used.get(value) ?? 0) + posted + held);
    }
  }
  const most = [...used].sort(([, a], [, b]) => b - a).slice(0, maxValues);
  return most.flatMap(([value]) => viewOf(ledger, day, now, limitFor(budget, value)) ?? []);
}
