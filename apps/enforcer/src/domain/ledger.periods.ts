import type { Period } from './journal.ts';
import { type Account, isDailyMeter, MAX_AHEAD_MS, newAccount } from './ledger.ts';

/** A period with its accounts, by value. */
export interface PeriodState extends Period {
  readonly accounts: Map<string, Account>;
  bytes: number;
}

/** The periods of all meters of a ledger. */
export interface MeterPeriods {
  readonly totals: Readonly<{ bytes: number; accounts: number; budgetAccounts: number }>;
  find(meter: string, start: number): PeriodState | undefined;
  /** In order of time. */
  of(meter: string): readonly PeriodState[];
  all(): (PeriodState & { meter: string })[];
  /** Takes the place of the one with the same start. */
  open(meter: string, period: Period): void;
  remove(meter: string, isRemoved: (period: PeriodState) => boolean): void;
  /** Removes the periods of budgets that are over. */
  removeOld(): void;
  addAccount(meter: string, period: PeriodState, value: string): Account;
}

interface Meter {
  readonly byStart: Map<number, PeriodState>;
  inOrder: readonly PeriodState[];
}

/** Memory of an account in V8, without the characters of its value. A suite measures it. */
const ACCOUNT_BYTES = 320;
const PERIOD_BYTES = 400;

/** A workspace may have thousands of periods, so nothing but a removal walks through all of them. */
export function createMeterPeriods(): MeterPeriods {
  const meters = new Map<string, Meter>();
  const totals = { bytes: 0, accounts: 0, budgetAccounts: 0 };
  /** The latest start of a period: little later than the newest op at most, and never later again. */
  let latest = -Infinity;
  /** When the first period of a budget is over. */
  let nextRemoval = Infinity;

  function remove(meter: string, isRemoved: (period: PeriodState) => boolean): void {
    const found = meters.get(meter);
    const removed = found?.inOrder.filter(isRemoved) ?? [];
    if (found === undefined || removed.length === 0) return;
    for (const { start, accounts, bytes } of removed) {
      found.byStart.delete(start);
      totals.bytes -= bytes;
      totals.accounts -= accounts.size;
      if (!isDailyMeter(meter)) totals.budgetAccounts -= accounts.size;
    }
    found.inOrder = found.inOrder.filter((period) => !removed.includes(period));
    if (found.inOrder.length === 0) meters.delete(meter);
  }

  return {
    totals,
    find: (meter, start) => meters.get(meter)?.byStart.get(start),
    of: (meter) => meters.get(meter)?.inOrder ?? [],
    all: () => [...meters].flatMap(([meter, { inOrder: periods }]) => periods.map((each) => ({ meter, ...each }))),
    open(meter, { start, end, until }) {
      remove(meter, (period) => period.start === start);
      const opened = { start, end, until, accounts: new Map<string, Account>(), bytes: PERIOD_BYTES };
      const present = meters.get(meter);
      const byStart = present?.byStart ?? new Map<number, PeriodState>();
      byStart.set(start, opened);
      meters.set(meter, { byStart, inOrder: inOrder([...(present?.inOrder ?? []), opened]) });
      totals.bytes += PERIOD_BYTES;
      latest = Math.max(latest, start);
      if (!isDailyMeter(meter)) nextRemoval = Math.min(nextRemoval, until);
    },
    remove,
    removeOld() {
      // Spend may be ahead of the clock, and must not remove what still counts now.
      const now = latest - MAX_AHEAD_MS;
      if (nextRemoval > now) return;
      nextRemoval = Infinity;
      for (const [meter, { inOrder: periods }] of meters) {
        if (isDailyMeter(meter)) continue;
        remove(meter, ({ until }) => until <= now);
        for (const { until } of periods) if (until > now) nextRemoval = Math.min(nextRemoval, until);
      }
    },
    addAccount(meter, period, value) {
      const account = newAccount();
      period.accounts.set(value, account);
      const bytes = ACCOUNT_BYTES + value.length * 2;
      period.bytes += bytes;
      totals.bytes += bytes;
      totals.accounts += 1;
      if (!isDailyMeter(meter)) totals.budgetAccounts += 1;
      return account;
    },
  };
}

export function inOrder<T extends Pick<Period, 'start'>>(periods: T[]): T[] {
  return periods.sort((a, b) => a.start - b.start);
}
