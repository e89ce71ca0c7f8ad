import { BUDGET_SCOPES } from '@tollkeeper/contracts';
import type { AccountKey, Day, Period } from './journal.ts';
import { createMeterPeriods, inOrder, type PeriodState } from './ledger.periods.ts';
import { type Account, isDailyMeter, KEEP_MS, type Ledger } from './ledger.ts';

/** A period with its meter. */
export interface MeterPeriod extends Period {
  meter: string;
}

/** The days, periods and accounts of a ledger at one time. The ledger may change while they are read. */
export interface FrozenAccounts {
  readonly days: readonly Day[];
  readonly periods: readonly MeterPeriod[];
  accounts(): Iterable<[AccountKey, Readonly<Account>]>;
  /** Call it after the last read. */
  thaw(): void;
}

type OfHolds = 'holdCount' | 'holdBytes' | 'hold' | 'holds' | 'setHold' | 'removeHold';

/** The days, periods and accounts of a ledger. */
export interface LedgerAccounts extends Omit<Ledger, OfHolds | 'metering' | 'setMetering'> {
  /** Approximate memory in bytes. */
  readonly bytes: number;
  /** Number of accounts of all days and periods. */
  readonly accountTotal: number;
  /** The current state, unaffected by later ops. Only one at a time. */
  freeze(): FrozenAccounts;
}

export function createLedgerAccounts(): LedgerAccounts {
  let days: Day[] = [];
  /** The meters of daily budgets have the days. */
  const periods = createMeterPeriods();
  /** While frozen: the earlier state of changed accounts; null for new ones. */
  let before: Map<Account, Account | null> | null = null;

  function make(meter: string, period: PeriodState, value: string): Account {
    const account = periods.addAccount(meter, period, value);
    before?.set(account, null);
    return account;
  }

  return {
    get days() {
      return days;
    },
    get bytes() {
      return periods.totals.bytes;
    },
    get accountTotal() {
      return periods.totals.accounts;
    },
    get budgetAccounts() {
      return periods.totals.budgetAccounts;
    },
    addDay(day) {
      const last = Math.max(day.end, days.at(-1)?.end ?? 0);
      days = inOrder([...days.filter(({ start, end }) => start !== day.start && end > last - KEEP_MS), day]);
      for (const meter of BUDGET_SCOPES) {
        periods.open(meter, { ...day, until: day.end + KEEP_MS });
        periods.remove(meter, ({ start }) => !days.some((kept) => kept.start === start));
      }
      periods.removeOld();
    },
    periods: periods.of,
    addPeriod(meter, period) {
      periods.open(meter, period);
      periods.removeOld();
    },
    removePeriods: (meter) => periods.remove(meter, () => true),
    accountCount: (meter, start) => periods.find(meter, start)?.accounts.size ?? 0,
    accountsIn: (meter, start) => periods.find(meter, start)?.accounts ?? [],
    readAccount: ([meter, start, value]) => periods.find(meter, start)?.accounts.get(value),
    account([meter, start, value]) {
      const period = periods.find(meter, start);
      const known = period?.accounts.get(value);
      if (known !== undefined && before?.has(known) === false) before.set(known, copyOf(known));
      return known ?? (period && make(meter, period, value));
    },
    freeze() {
      before = new Map();
      return frozen(days, periods.all(), before, () => {
        before = null;
      });
    },
  };
}

/** `changed` has the earlier state of accounts that change from now on. */
function frozen(
  days: readonly Day[],
  all: readonly (PeriodState & { meter: string })[],
  changed: ReadonlyMap<Account, Account | null>,
  thaw: () => void,
): FrozenAccounts {
  const ofBudgets = all.filter(({ meter }) => !isDailyMeter(meter));
  return {
    days,
    periods: ofBudgets.map(({ meter, start, end, until }) => ({ meter, start, end, until })),
    *accounts() {
      for (const { meter, start, accounts } of all) {
        for (const [value, account] of accounts) {
          const as = changed.get(account);
          if (as !== null) yield [[meter, start, value], as ?? account];
        }
      }
    },
    thaw,
  };
}

export function copyOf(account: Readonly<Account>): Account {
  return { ...account, overspend: { ...account.overspend } };
}
