import { startSlices, type WorkSlices } from '@tollkeeper/kernel';
import { limitFor, type RaisableBudget } from './active.budgets.ts';
import { countedPeriods, findPeriod } from './budget.period.ts';
import { type Ask, type Context, type Decided, type LongRead, NEWEST } from './decision.ts';
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
  return {
    decide(ledger, context) {
      if (!context.isNewest) return NEWEST;
      const day = runningDay(ledger, context);
      return toView(
        day,
        limits.flatMap((limit) => viewOf(ledger, day, context.now, limit) ?? []),
      );
    },
  };
}

/** The limit of a budget in its running period, or those of the `maxValues` values with the most spend. */
export function viewBudget(budget: RaisableBudget, maxValues: number): LongRead<LimitsView> {
  return {
    async decide(ledger, context) {
      if (!context.isNewest) return NEWEST;
      const day = runningDay(ledger, context);
      return toView(day, await viewsOf(ledger, day, context.now, budget, maxValues));
    },
  };
}

function runningDay(ledger: Ledger, { now }: Context): Day {
  const day = findDay(ledger, now);
  if (day === undefined) throw new Error('The running day is not open');
  return day;
}

function toView({ start, end, timezone }: Day, items: LimitView[]): Decided<LimitsView> {
  return { ops: [], answer: { day: { start, end, timezone }, items } };
}

function viewOf(ledger: Ledger, day: Day, now: number, limit: Limit): LimitView | null {
  const counts = countsOf(ledger, day, now, limit);
  if (counts === null) return null;
  const { open, leases, released, expired, overspend } = counts.account;
  const row = toRow(limit, counts, now);
  const filled = limit.budget === undefined ? 100 : filledPercent(ledger.metering, limit.budget.meter);
  const view = { openReservations: open, openLeases: leases, released, expired, overspendMicros: { ...overspend } };
  return { ...row, ...view, filledPercent: filled, paceEndMicros: paceEnd(row, now) };
}

/**
 * Reads each account once, since a budget may have very many, and shows only the values with the most spend. The steps
 * of a rolling period may have all accounts of a workspace.
 */
async function viewsOf(
  ledger: Ledger,
  day: Day,
  now: number,
  budget: RaisableBudget,
  maxValues: number,
): Promise<LimitView[]> {
  if (budget.each === null) return [viewOf(ledger, day, now, limitFor(budget, '')) ?? []].flat();
  const current = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
  if (current === null) return [];
  const slices = startSlices();
  const used = new Map<string, number>();
  for (const { start } of countedPeriods(ledger, budget, current)) {
    for (const [value, { posted, held }] of ledger.accountsIn(budget.meter, start)) {
      if (slices.usedUp()) await slices.next();
      used.set(value, (used.get(value) ?? 0) + posted + held);
    }
  }
  const views: LimitView[] = [];
  for (const [value] of await highest(used, maxValues, slices)) {
    if (slices.usedUp()) await slices.next();
    const view = viewOf(ledger, day, now, limitFor(budget, value));
    if (view !== null) views.push(view);
  }
  return views;
}

/** The `max` entries with the highest numbers, highest first; the first of equal ones. */
async function highest(
  all: Iterable<[string, number]>,
  max: number,
  slices: WorkSlices,
): Promise<readonly [string, number][]> {
  let found: [string, number][] = [];
  const keepHighest = () => (found = found.sort(([, a], [, b]) => b - a).slice(0, max));
  for (const entry of all) {
    if (slices.usedUp()) await slices.next();
    if (found.push(entry) >= 2 * max + 100) keepHighest();
  }
  return keepHighest();
}
