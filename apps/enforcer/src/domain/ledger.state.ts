import type { AccountKey, Hold } from './journal.ts';
import { copyOf, createLedgerAccounts, type FrozenAccounts, type LedgerAccounts } from './ledger.accounts.ts';
import { inOrder } from './ledger.periods.ts';
import { type Metering, NO_METERS } from './metering.ts';
import { type Account, isDailyMeter, type Ledger, newAccount } from './ledger.ts';

export interface LedgerState extends Ledger, Pick<LedgerAccounts, 'accountTotal'> {
  /** Approximate memory in bytes. */
  readonly bytes: number;
  /** The open leases, and what is left of them together in USD micros. */
  readonly leases: Readonly<{ count: number; leftMicros: number }>;
  /** A snapshot of the current state, unaffected by later ops. Only one at a time. */
  freeze(): FrozenLedger;
}

/** The state of a ledger at one time. The ledger may change while it is read. */
export interface FrozenLedger extends FrozenAccounts {
  readonly holds: readonly Hold[];
  readonly metering: Metering;
}

/** Memory of a hold in V8, without the characters of its strings. A suite measures it. */
const HOLD_BYTES = 560;
/** Memory of the terms of a lease. */
const LEASE_BYTES = 56;
/** Memory of a label, without the characters of its strings. */
const LABEL_BYTES = 64;
/** Memory of a key of an account in a hold, likewise. */
const ACCOUNT_KEY_BYTES = 112;

/** An empty ledger in memory. */
export function createLedger(): LedgerState {
  const accounts = createLedgerAccounts();
  const { addDay, periods, addPeriod, removePeriods, accountCount, accountsIn, readAccount, account } = accounts;
  const holds = new Map<string, Hold>();
  const leases = { count: 0, leftMicros: 0 };
  let holdBytes = 0;
  let metering = NO_METERS;

  /** Adds a hold to the sums, or takes it from them. */
  function count(hold: Hold | undefined, sign: 1 | -1): void {
    if (hold === undefined) return;
    holdBytes += sign * bytesOf(hold);
    if (hold.lease === undefined) return;
    leases.count += sign;
    leases.leftMicros += sign * hold.amountMicros;
  }

  return {
    ...{ addDay, periods, addPeriod, removePeriods, accountCount, accountsIn, readAccount, account },
    get metering() {
      return metering;
    },
    setMetering(changed) {
      metering = changed;
    },
    get days() {
      return accounts.days;
    },
    get budgetAccounts() {
      return accounts.budgetAccounts;
    },
    get accountTotal() {
      return accounts.accountTotal;
    },
    get bytes() {
      return holdBytes + accounts.bytes;
    },
    get holdCount() {
      return holds.size;
    },
    get holdBytes() {
      return holdBytes;
    },
    leases,
    hold: (id) => holds.get(id),
    setHold(hold) {
      count(holds.get(hold.id), -1);
      count(hold, 1);
      holds.set(hold.id, hold);
    },
    removeHold(id) {
      count(holds.get(id), -1);
      holds.delete(id);
    },
    holds: () => holds.values(),
    freeze: () => ({ ...accounts.freeze(), holds: [...holds.values()], metering }),
  };
}

function bytesOf(hold: Hold): number {
  const { id, requestId, agentId, runId, planKey, keyId, said, model, provider, labels, accounts = [], lease } = hold;
  // One byte per character: identifiers are ASCII.
  const texts = [id, requestId, agentId, runId, planKey, keyId, said];
  const ids = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  let bytes = HOLD_BYTES + ids + textBytes(model) + textBytes(provider) + (lease === undefined ? 0 : LEASE_BYTES);
  for (const [meter, , value] of accounts) bytes += ACCOUNT_KEY_BYTES + meter.length + textBytes(value);
  for (const name in labels) bytes += name.length + textBytes(labels[name]) + LABEL_BYTES;
  return bytes;
}

/** V8 stores a text with two bytes per character if it has any beyond Latin-1. */
function textBytes(text = ''): number {
  return text.length * 2;
}

type DraftHolds = Pick<Ledger, 'holdCount' | 'holdBytes' | 'holds' | 'hold' | 'setHold' | 'removeHold'>;

/** The holds of a draft: changed ones, null if they are removed, and those of `base`. */
function createDraftHolds(base: Ledger): DraftHolds {
  const holds = new Map<string, Hold | null>();
  let { holdCount, holdBytes } = base;

  function find(id: string): Hold | undefined {
    const changed = holds.get(id);
    return changed === undefined ? base.hold(id) : (changed ?? undefined);
  }

  return {
    get holdCount() {
      return holdCount;
    },
    get holdBytes() {
      return holdBytes;
    },
    *holds() {
      for (const hold of base.holds()) if (!holds.has(hold.id)) yield hold;
      for (const hold of holds.values()) if (hold !== null) yield hold;
    },
    hold: find,
    setHold(hold) {
      const before = find(hold.id);
      if (before === undefined) holdCount += 1;
      holdBytes += bytesOf(hold) - (before === undefined ? 0 : bytesOf(before));
      holds.set(hold.id, hold);
    },
    removeHold(id) {
      const hold = find(id);
      if (hold !== undefined) {
        holdCount -= 1;
        holdBytes -= bytesOf(hold);
      }
      holds.set(id, null);
    },
  };
}

/** What a draft has changed in a period of its base. */
interface PeriodChanges {
  accounts: Map<string, Account>;
  /** The values whose accounts are new. */
  added: Set<string>;
}

/**
 * A ledger on top of `base` that keeps all changes to itself: the effect of a batch of requests before it is in the
 * journal.
 */
export function createDraft(base: Ledger): Ledger {
  /** The changes in periods of `base`. */
  const changes = new Map<string, Map<number, PeriodChanges>>();
  const drafted = createLedger();
  const ofHolds = createDraftHolds(base);
  const { holds, hold, setHold, removeHold } = ofHolds;
  let { budgetAccounts, metering } = base;

  const isThere = (meter: string, at: number) => base.periods(meter).some(({ start }) => start === at);
  const changesIn = (meter: string, start: number) => changes.get(meter)?.get(start);

  function beginChanges(meter: string, start: number): PeriodChanges {
    const begun: PeriodChanges = { accounts: new Map(), added: new Set() };
    const ofMeter = changes.get(meter);
    if (ofMeter === undefined) changes.set(meter, new Map([[start, begun]]));
    else ofMeter.set(start, begun);
    return begun;
  }

  /** The account of `base`, or a new one. */
  function copyFromBase(key: AccountKey, { added }: PeriodChanges): Account {
    const known = base.readAccount(key);
    if (known !== undefined) return copyOf(known);
    const [meter, , value] = key;
    added.add(value);
    if (!isDailyMeter(meter)) budgetAccounts += 1;
    return newAccount();
  }

  return {
    get days() {
      return drafted.days.length === 0 ? base.days : inOrder([...base.days, ...drafted.days]);
    },
    get metering() {
      return metering;
    },
    setMetering(changed) {
      metering = changed;
    },
    ...{ holds, hold, setHold, removeHold },
    get holdCount() {
      return ofHolds.holdCount;
    },
    get holdBytes() {
      return ofHolds.holdBytes;
    },
    get budgetAccounts() {
      return budgetAccounts + drafted.budgetAccounts;
    },
    addDay: drafted.addDay,
    periods(meter) {
      const opened = drafted.periods(meter);
      return opened.length === 0 ? base.periods(meter) : inOrder([...base.periods(meter), ...opened]);
    },
    addPeriod: drafted.addPeriod,
    // Those of `base` stay until the journal has the op: no decision of the same batch reads them.
    removePeriods: drafted.removePeriods,
    accountCount(meter, start) {
      const news = changesIn(meter, start)?.added.size ?? 0;
      return base.accountCount(meter, start) + news + drafted.accountCount(meter, start);
    },
    *accountsIn(meter, start) {
      const changed = changesIn(meter, start);
      for (const [value, account] of base.accountsIn(meter, start)) {
        yield [value, changed?.accounts.get(value) ?? account];
      }
      for (const value of changed?.added ?? []) yield [value, changed!.accounts.get(value)!];
      yield* drafted.accountsIn(meter, start);
    },
    readAccount(key) {
      const [meter, start, value] = key;
      return changesIn(meter, start)?.accounts.get(value) ?? base.readAccount(key) ?? drafted.readAccount(key);
    },
    account(key) {
      const [meter, start, value] = key;
      if (!isThere(meter, start)) return drafted.account(key);
      const changed = changesIn(meter, start) ?? beginChanges(meter, start);
      let account = changed.accounts.get(value);
      if (account === undefined) changed.accounts.set(value, (account = copyFromBase(key, changed)));
      return account;
    },
  };
}
