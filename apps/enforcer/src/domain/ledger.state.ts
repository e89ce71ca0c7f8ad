import type { Hold } from './journal.ts';
import { type Account, type AccountName, type Day, KEEP_DAY_MS, type Ledger, newAccount } from './ledger.ts';
import type { Scope } from './limit.ts';

/** A ledger with all that is in it, for snapshots. */
export interface LedgerState extends Ledger {
  holds(): IterableIterator<Hold>;
  accountsOf(day: number): Iterable<[AccountName, Account]>;
}

interface DayState extends Day {
  accounts: Map<string, Account>;
  counts: Record<Scope, number>;
}

const NO_ACCOUNTS: Readonly<Record<Scope, number>> = { workspace: 0, agent: 0, plan: 0 };

/** An empty ledger in memory. */
export function createLedger(): LedgerState {
  const holds = new Map<string, Hold>();
  let days: DayState[] = [];
  const find = (day: number) => days.find(({ start }) => start === day);

  return {
    get days() {
      return days;
    },
    get holdCount() {
      return holds.size;
    },
    hold: (id) => holds.get(id),
    setHold: (hold) => void holds.set(hold.id, hold),
    removeHold: (id) => void holds.delete(id),
    addDay(day) {
      const latest = Math.max(day.end, days.at(-1)?.end ?? 0);
      const kept = days.filter(({ start, end }) => start !== day.start && end > latest - KEEP_DAY_MS);
      const added = { ...day, accounts: new Map<string, Account>(), counts: { ...NO_ACCOUNTS } };
      days = [...kept, added].sort((a, b) => a.start - b.start);
    },
    accountCount: (day, scope) => find(day)?.counts[scope] ?? 0,
    readAccount: (day, name) => find(day)?.accounts.get(textOf(name)),
    account(day, name) {
      const ofDay = find(day);
      const text = textOf(name);
      const known = ofDay?.accounts.get(text);
      if (ofDay === undefined || known !== undefined) return known;
      const account = newAccount();
      ofDay.accounts.set(text, account);
      ofDay.counts[name.scope] += 1;
      return account;
    },
    holds: () => holds.values(),
    accountsOf: (day) => [...(find(day)?.accounts ?? [])].map(([text, account]) => [nameOf(text), account]),
  };
}

/**
 * A ledger over `base` that keeps what is changed to itself: what a batch of requests would make of it, decided before
 * the journal has it.
 */
export function createDraft(base: Ledger): Ledger {
  const holds = new Map<string, Hold | null>();
  const accounts = new Map<string, Account>();
  const counts = new Map<number, Record<Scope, number>>();
  const drafted = createLedger();
  let holdCount = base.holdCount;

  const isThere = (day: number) => base.days.some(({ start }) => start === day);
  function count(day: number, scope: Scope): void {
    const ofDay = counts.get(day) ?? { ...NO_ACCOUNTS };
    ofDay[scope] += 1;
    counts.set(day, ofDay);
  }
  const textIn = (day: number, name: AccountName) => `${day}/${textOf(name)}`;

  return {
    get days() {
      return drafted.days.length === 0 ? base.days : [...base.days, ...drafted.days].sort((a, b) => a.start - b.start);
    },
    get holdCount() {
      return holdCount;
    },
    hold(id) {
      const changed = holds.get(id);
      return changed === undefined ? base.hold(id) : (changed ?? undefined);
    },
    setHold(hold) {
      if (this.hold(hold.id) === undefined) holdCount += 1;
      holds.set(hold.id, hold);
    },
    removeHold(id) {
      if (this.hold(id) !== undefined) holdCount -= 1;
      holds.set(id, null);
    },
    addDay: (day) => drafted.addDay(day),
    accountCount(day, scope) {
      return base.accountCount(day, scope) + (counts.get(day)?.[scope] ?? 0) + drafted.accountCount(day, scope);
    },
    readAccount(day, name) {
      return accounts.get(textIn(day, name)) ?? base.readAccount(day, name) ?? drafted.readAccount(day, name);
    },
    account(day, name) {
      if (!isThere(day)) return drafted.account(day, name);
      const text = textIn(day, name);
      let account = accounts.get(text);
      if (account === undefined) {
        const known = base.readAccount(day, name);
        if (known === undefined) count(day, name.scope);
        account = known === undefined ? newAccount() : { ...known, overspend: { ...known.overspend } };
        accounts.set(text, account);
      }
      return account;
    },
  };
}

function textOf({ scope, scopeId }: AccountName): string {
  return scope === 'workspace' ? scope : `${scope}/${scopeId}`;
}

function nameOf(text: string): AccountName {
  const [scope = '', ...rest] = text.split('/');
  return { scope: scope as AccountName['scope'], scopeId: rest.join('/') };
}
