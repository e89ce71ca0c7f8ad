import { type ActiveBudgets, budgetedCall, type CallFacts } from './active.budgets.ts';
import { placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import { type Ask, NEWEST } from './decision.ts';
import type { AccountKey, Op } from './journal.ts';
import { applyOp, MAX_AHEAD_MS } from './ledger.ts';
import { type Fill, nextFill } from './metering.ts';
import type { Correction } from './correct.ts';
import type { Posted, ReportedSpend, Settled } from './settle.ts';

/** A page of settled spend, with the fill that comes after it. */
export interface FillPage {
  /** What was posted of each settlement, with the entry that posted it. */
  spend: readonly ((ReportedSpend | Correction) & Pick<Posted, 'settled'>)[];
  cursor: string;
  readUntil: number;
}

/** The fill to do next, as of the newest entry; null if all meters are exact. */
export function findFill(): Ask<{ fill: Fill | null; seq: number }> {
  return {
    decide(ledger, { now, seq, isNewest }) {
      if (!isNewest) return NEWEST;
      return { ops: [], answer: { fill: nextFill(ledger.metering, now + MAX_AHEAD_MS), seq } };
    },
  };
}

/**
 * Adds a page of settled spend to the meters of the fill, unless that has been done: then the answer is null. Otherwise
 * it has the accounts with more spend. Entries before the beginning of a meter settled what is added to it; it counted
 * everything else itself. `seq` is from {@link findFill}: meters that began later are not part of the fill.
 */
export function addPage(
  { fill, seq }: { fill: Fill; seq: number },
  page: FillPage,
  budgets: ActiveBudgets,
): Ask<readonly AccountKey[] | null> {
  return {
    isFromLog: true,
    budgets,
    decide(ledger, { now }) {
      const { metering } = ledger;
      const isNext = metering.fill === null ? fill.cursor === '' : isSamePage(metering.fill, fill);
      const inProgress = metering.fill?.meters ?? fill.meters;
      const cuts = new Map<string, { cut: number; from: number }>();
      for (const name of inProgress) {
        const meter = metering.meters.get(name);
        if (meter?.isExact === false && meter.cut < seq) cuts.set(name, meter);
      }
      const timezone = findDay(ledger, now)?.timezone;
      if (!isNext || cuts.size !== inProgress.length || timezone === undefined) return { ops: [], answer: null };

      const ops: Op[] = [];
      const meters = new Set(cuts.keys());
      const sums = new Map<string, [AccountKey, number]>();
      for (const { settled, ...reported } of page.spend) {
        const { call, time, micros } = countedAs(reported, settled);
        const limits = budgets.limitsFor(budgetedCall(call), time, meters).filter(({ budget: { meter } }) => {
          const { cut, from } = cuts.get(meter)!;
          return time >= from && (settled === null || settled.seq < cut);
        });
        const { accounts, opened } = placesOf(ledger, limits, time, { timezone, now });
        ops.push(...opened);
        for (const key of accounts) {
          const name = key.join('/');
          const sum = sums.get(name)?.[1] ?? 0;
          sums.set(name, [key, sum + micros]);
        }
      }
      const { from, until } = metering.fill ?? fill;
      const next: Fill = { meters: [...meters], from, until, cursor: page.cursor, readUntil: page.readUntil };
      const op: Op = { op: 'fill', spend: [...sums.values()], ...next };
      applyOp(ledger, op);
      return { ops: [...ops, op], answer: [...sums.values()].map(([key]) => key) };
    },
  };
}

function isSamePage(one: Fill, other: Fill): boolean {
  return one.cursor === other.cursor && one.from === other.from && one.until === other.until;
}

/** The journal is right where it still has the settlement: it belongs to the time and the labels of its grant. */
function countedAs(
  reported: ReportedSpend | Correction,
  settled: Settled | null,
): { call: CallFacts; time: number; micros: number } {
  const { micros, grant } = settled ?? { micros: reported.micros, grant: null };
  return grant === null
    ? { call: reported, time: reported.at, micros }
    : { call: grant, time: grant.createdAt, micros };
}
