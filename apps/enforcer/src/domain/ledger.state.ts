import type { BudgetScope } from '@tollkeeper/contracts';
import type { Day, Hold } from './journal.ts';
import { type Account, type AccountName, HAS_SEVERAL, KEEP_DAY_MS, type Ledger, newAccount } from './ledger.ts';

export interface LedgerState extends Ledger {
  /** Approximate memory in bytes. */
  readonly bytes: number;
  /** Number of accounts of all days. */
  readonly accountTotal: number;
  holds(): IterableIterator<Hold>;
  /** A snapshot of the current state, unaffected by later ops. Only one at a time. */
  freeze(): FrozenLedger;
}

/** An account with its day and its name. */
export type NamedAccount = [day: number, name: AccountName, account: Readonly<Account>];

/** The state of a ledger at one time. The ledger may change while it is read. */
export interface FrozenLedger {
  readonly days: readonly Day[];
  readonly holds: readonly Hold[];
  accounts(): Iterable<NamedAccount>;
  /** Call it after the last read. */
  thaw(): void;
}

interface DayState extends Day {
  accounts: Map<string, Account>;
  counts: Record<BudgetScope, number>;
  bytes: number;
}

const NO_ACCOUNTS: Readonly<Record<BudgetScope, number>> = { workspace: 0, agent: 0, plan: 0 };
/** Memory of an account and of a hold in V8, without the characters of their strings. A suite measures it. */
const ACCOUNT_BYTES = 320;
const HOLD_BYTES = 560;
/** Memory of a label, without the characters of its strings. */
const LABEL_BYTES = 64;

/** An empty ledger in memory. */
export function createLedger(): LedgerState {
  const holds = new Map<string, Hold>();
  let days: DayState[] = [];
  let holdBytes = 0;
  /** While frozen: the earlier state of changed accounts; null for new ones. */
  let before: Map<Account, Account | null> | null = null;
  const find = (day: number) => days.find(({ start }) => start === day);

  return {
    get days() {
      return days;
    },
    get holdCount() {
      return holds.size;
    },
    get holdBytes() {
      return holdBytes;
    },
    get bytes() {
      return days.reduce((sum, day) => sum + day.bytes, holdBytes);
    },
    get accountTotal() {
      return days.reduce((sum, { accounts }) => sum + accounts.size, 0);
    },
    hold: (id) => holds.get(id),
    setHold(hold) {
      if (!holds.has(hold.id)) holdBytes += bytesOf(hold);
      holds.set(hold.id, hold);
    },
    removeHold(id) {
      const hold = holds.get(id);
      if (hold === undefined) return;
      holdBytes -= bytesOf(hold);
      holds.delete(id);
    },
    addDay(day) {
      const latest = Math.max(day.end, days.at(-1)?.end ?? 0);
      const kept = days.filter(({ start, end }) => start !== day.start && end > latest - KEEP_DAY_MS);
      const added = { ...day, accounts: new Map<string, Account>(), counts: { ...NO_ACCOUNTS }, bytes: 0 };
      days = [...kept, added].sort((a, b) => a.start - b.start);
    },
    accountCount: (day, scope) => find(day)?.counts[scope] ?? 0,
    readAccount: (day, name) => find(day)?.accounts.get(textOf(name)),
    account(day, name) {
      const ofDay = find(day);
      const text = textOf(name);
      const known = ofDay?.accounts.get(text);
      if (known !== undefined && before?.has(known) === false) before.set(known, copyOf(known));
      if (ofDay === undefined || known !== undefined) return known;
      const account = newAccount();
      before?.set(account, null);
      ofDay.accounts.set(text, account);
      ofDay.counts[name.scope] += 1;
      ofDay.bytes += ACCOUNT_BYTES + text.length;
      return account;
    },
    holds: () => holds.values(),
    freeze() {
      const [frozenDays, changed] = [days, new Map<Account, Account | null>()];
      before = changed;
      return {
        days: frozenDays.map(({ start, end, timezone }) => ({ start, end, timezone })),
        holds: [...holds.values()],
        *accounts() {
          for (const { start, accounts } of frozenDays) {
            for (const [text, account] of accounts) {
              const as = changed.get(account);
              if (as !== null) yield [start, nameOf(text), as ?? account];
            }
          }
        },
        thaw() {
          before = null;
        },
      };
    },
  };
}

function bytesOf({ id, requestId, agentId, runId, planKey, keyId, said, model, provider, labels }: Hold): number {
  // One byte per character: identifiers are ASCII.
  const texts = [id, requestId, agentId, runId, planKey, keyId, said];
  const ids = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  let bytes = HOLD_BYTES + ids + textBytes(model) + textBytes(provider);
  for (const name in labels) bytes += name.length + textBytes(labels[name]) + LABEL_BYTES;
  return bytes;
}

/** V8 stores a text with two bytes per character if it has any beyond Latin-1. */
function textBytes(text = ''): number {
  return text.length * 2;
}

function copyOf(account: Readonly<Account>): Account {
  return { ...account, overspend: { ...account.overspend } };
}

/**
 * A ledger on top of `base` that keeps all changes to itself: the effect of a batch of requests before it is in the
 * journal.
 */
export function createDraft(base: Ledger): Ledger {
  const holds = new Map<string, Hold | null>();
  const accounts = new Map<string, Account>();
  const counts = new Map<number, Record<BudgetScope, number>>();
  const drafted = createLedger();
  let { holdCount, holdBytes } = base;

  const isThere = (day: number) => base.days.some(({ start }) => start === day);
  function count(day: number, scope: BudgetScope): void {
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
    get holdBytes() {
      return holdBytes;
    },
    hold(id) {
      const changed = holds.get(id);
      return changed === undefined ? base.hold(id) : (changed ?? undefined);
    },
    setHold(hold) {
      if (this.hold(hold.id) === undefined) {
        holdCount += 1;
        holdBytes += bytesOf(hold);
      }
      holds.set(hold.id, hold);
    },
    removeHold(id) {
      const hold = this.hold(id);
      if (hold !== undefined) {
        holdCount -= 1;
        holdBytes -= bytesOf(hold);
      }
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
        account = known === undefined ? newAccount() : copyOf(known);
        accounts.set(text, account);
      }
      return account;
    },
  };
}

function textOf({ scope, scopeId }: AccountName): string {
  return HAS_SEVERAL[scope] ? `${scope}/${scopeId}` : scope;
}

function nameOf(text: string): AccountName {
  const [scope = '', ...rest] = text.split('/');
  return { scope: scope as AccountName['scope'], scopeId: rest.join('/') };
}
