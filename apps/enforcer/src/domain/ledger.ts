import { BUDGET_SCOPES, type BudgetScope } from '@tollkeeper/contracts';
import type { AccountKey, Day, Hold, Op, OpOf, Period, Posting } from './journal.ts';
import { OVERSPEND_CAUSES, type OverspendCause } from './limit.ts';
import { type Metering, withFill, withMeters, withoutMeters } from './metering.ts';

/** What was spent and reserved in a period, in USD micros: of a workspace, an agent, a plan, or a value of a budget. */
export interface Account {
  /**
   * Settled spend. Negative while a correction was posted, and its settlement, which came before the meter, was not
   * filled in.
   */
  posted: number;
  /** Held by open reservations and leases. */
  held: number;
  /** Number of open reservations. */
  open: number;
  /** Number of open leases. */
  leases: number;
  released: number;
  expired: number;
  /** Posted spend that no hold covered. */
  overspend: Record<OverspendCause, number>;
  /** The highest percentage of the limit that was reported. */
  reported: number;
}

/** The state of a workspace: its days, periods and accounts, and its holds. Only {@link applyOp} changes it. */
export interface Ledger {
  /** In order of time. */
  readonly days: readonly Day[];
  readonly holdCount: number;
  /** Approximate memory of the holds in bytes. */
  readonly holdBytes: number;
  /** Number of accounts of budgets, without those of daily budgets. */
  readonly budgetAccounts: number;
  readonly metering: Metering;
  setMetering(metering: Metering): void;
  hold(id: string): Hold | undefined;
  holds(): Iterable<Hold>;
  setHold(hold: Hold): void;
  removeHold(id: string): void;
  addDay(day: Day): void;
  /** The open periods of a budget's meter, in order of time. */
  periods(meter: string): readonly Period[];
  addPeriod(meter: string, period: Period): void;
  /** Removes all periods of the meter, with their accounts. */
  removePeriods(meter: string): void;
  /** Number of accounts in a period of a meter; 0 for an unknown period. */
  accountCount(meter: string, start: number): number;
  /** The accounts of a period of a meter, by value; for reading only. */
  accountsIn(meter: string, start: number): Iterable<[value: string, Readonly<Account>]>;
  /** For reading only; undefined if nothing was spent or held, and for an unknown period. */
  readAccount(key: AccountKey): Readonly<Account> | undefined;
  /** For changes; undefined for an unknown period. */
  account(key: AccountKey): Account | undefined;
}

/** How long a day or a period is kept after its end: as long as late spend may be posted to it. */
export const KEEP_MS = 3 * 86_400_000;

/** Spend whose time is further ahead of the clock than this counts for the running day and periods. */
export const MAX_AHEAD_MS = 3_600_000;

/**
 * Maximum number of accounts in a period of a meter, such as agents in a day. Spend of others is posted only to the
 * remaining accounts, and they get no reservations.
 */
export const MAX_ACCOUNTS = 20_000;
/** The same for all accounts of budgets of a workspace that are for one value of many. */
export const MAX_BUDGET_ACCOUNTS = 100_000;

export const EMPTY_ACCOUNT: Readonly<Account> = newAccount();

export function newAccount(): Account {
  return {
    posted: 0,
    held: 0,
    open: 0,
    leases: 0,
    released: 0,
    expired: 0,
    overspend: { above_hold: 0, late: 0, unreserved: 0 },
    reported: 0,
  };
}

/** The accounts in which a call counts. */
export function accountsOf({ day, agentId, planKey, accounts }: Posting): readonly AccountKey[] {
  const keys: AccountKey[] = [dailyAccount('workspace', day, ''), dailyAccount('agent', day, agentId)];
  if (planKey !== null) keys.push(dailyAccount('plan', day, planKey));
  if (accounts !== undefined) keys.push(...accounts);
  return keys;
}

/** The account of a daily budget. */
export function dailyAccount(scope: BudgetScope, day: number, scopeId: string): AccountKey {
  return [scope, day, VALUE_IN[scope](scopeId)];
}

const VALUE_IN: Record<BudgetScope, (scopeId: string) => string> = {
  workspace: () => '',
  agent: (agentId) => agentId,
  plan: (planKey) => planKey,
};

export function isDailyMeter(meter: string): meter is BudgetScope {
  return (BUDGET_SCOPES as readonly string[]).includes(meter);
}

/** Whether the account exists or may still be created. */
export function hasRoomFor(ledger: Ledger, key: AccountKey): boolean {
  const [meter, start, value] = key;
  const isFull = !isDailyMeter(meter) && value !== '' && ledger.budgetAccounts >= MAX_BUDGET_ACCOUNTS;
  if (!isFull && ledger.accountCount(meter, start) < MAX_ACCOUNTS) return true;
  return ledger.readAccount(key) !== undefined;
}

/**
 * Applies an op of the journal. Ops about a removed hold or day change nothing. Throws for an unknown op, because a
 * ledger without it would grant too much.
 */
export function applyOp(ledger: Ledger, op: Op): void {
  switch (op.op) {
    case 'day':
      return ledger.addDay({ start: op.start, end: op.end, timezone: op.timezone });
    case 'period':
      return ledger.addPeriod(op.meter, { start: op.start, end: op.end, until: op.until });
    case 'begin':
      return ledger.setMetering(withMeters(ledger.metering, op));
    case 'adopt':
      return adopt(ledger, op);
    case 'forget':
      return forget(ledger, op);
    case 'fill':
      return fill(ledger, op);
    case 'grant':
    case 'lease': {
      ledger.setHold(toHold(op));
      return change(ledger, op, (account) => open(account, op));
    }
    case 'renew':
      return renew(ledger, op);
    case 'draw':
      return draw(ledger, op);
    case 'draw_late':
      return post(ledger, op, 'late', sumOf(op));
    case 'extend': {
      const hold = ledger.hold(op.id);
      if (hold !== undefined) ledger.setHold(withEnd(hold, op));
      return;
    }
    case 'expire':
      return end(ledger, op.id, (account, hold) => {
        // A lease ends like this as soon as its gateway has no further calls.
        if (hold.lease === undefined) account.expired += 1;
      });
    case 'release':
      return end(ledger, op.id, (account, hold) => {
        // A returned lease may have been spent, unlike a released reservation.
        if (hold.lease === undefined) account.released += 1;
      });
    case 'settle':
      return end(ledger, op.id, (account, hold) => {
        if (op.counted) return;
        account.posted = add(account.posted, op.micros);
        const above = Math.max(0, op.micros - hold.amountMicros);
        account.overspend.above_hold = add(account.overspend.above_hold, above);
      });
    case 'late':
      return op.counted ? undefined : post(ledger, op, 'late', op.micros);
    case 'post':
      return post(ledger, op, 'unreserved', op.micros);
    case 'report':
      return report(ledger, dailyAccount(op.scope, op.day, op.scopeId), op.percent);
    case 'tell':
      return report(ledger, op.account, op.percent);
    default: {
      const { op: name } = op satisfies never as { op: string };
      throw new Error(`The journal has an op "${name}" of a newer version of this service. Update every replica.`);
    }
  }
}

function adopt(ledger: Ledger, { id, accounts }: OpOf<'adopt'>): void {
  const hold = ledger.hold(id);
  if (hold === undefined) return;
  ledger.setHold({ ...hold, accounts: [...(hold.accounts ?? []), ...accounts] });
  for (const key of accounts) {
    const account = hasRoomFor(ledger, key) ? ledger.account(key) : undefined;
    if (account === undefined) continue;
    open(account, hold);
  }
}

function withEnd({ failed: _before, ...hold }: Hold, { expiresAt, failed }: OpOf<'extend'>): Hold {
  return { ...hold, expiresAt, ...(failed && { failed }) };
}

function renew(ledger: Ledger, { id, amountMicros, expiresAt }: OpOf<'renew'>): void {
  const hold = ledger.hold(id);
  if (hold?.lease === undefined) return;
  const left = Math.max(0, amountMicros - hold.lease.settledMicros);
  ledger.setHold({ ...hold, amountMicros: left, expiresAt, lease: { ...hold.lease, amountMicros } });
  change(ledger, hold, (account) => {
    account.held = add(account.held, left - hold.amountMicros);
  });
}

function draw(ledger: Ledger, op: OpOf<'draw'>): void {
  const hold = ledger.hold(op.id);
  if (hold?.lease === undefined) return;
  const micros = sumOf(op);
  const covered = Math.min(micros, hold.amountMicros);
  const lease = { ...hold.lease, settledMicros: add(hold.lease.settledMicros, micros) };
  ledger.setHold({ ...hold, amountMicros: hold.amountMicros - covered, lease });
  change(ledger, hold, (account) => {
    account.held -= covered;
    account.posted = add(account.posted, micros);
    account.overspend.above_hold = add(account.overspend.above_hold, micros - covered);
  });
}

/** What settlements from a lease add up to. */
export function sumOf({ settlements }: Pick<OpOf<'draw'>, 'settlements'>): number {
  return settlements.reduce((sum, [, micros]) => add(sum, micros), 0);
}

function forget(ledger: Ledger, { meters }: OpOf<'forget'>): void {
  const gone = new Set(meters);
  for (const hold of [...ledger.holds()]) {
    const kept = hold.accounts?.filter(([meter]) => !gone.has(meter));
    if (kept?.length !== hold.accounts?.length) ledger.setHold({ ...hold, accounts: kept! });
  }
  for (const meter of meters) ledger.removePeriods(meter);
  ledger.setMetering(withoutMeters(ledger.metering, meters));
}

function fill(ledger: Ledger, { spend, meters, from, until, cursor, readUntil }: OpOf<'fill'>): void {
  for (const [key, micros] of spend) {
    const account = hasRoomFor(ledger, key) ? ledger.account(key) : undefined;
    if (account !== undefined) account.posted = add(account.posted, micros);
  }
  ledger.setMetering(withFill(ledger.metering, { meters, from, until, cursor, readUntil }));
}

function toHold({ op: _, ...hold }: OpOf<'grant' | 'lease'>): Hold {
  return hold;
}

function end(ledger: Ledger, id: string, also: (account: Account, hold: Hold) => void): void {
  const hold = ledger.hold(id);
  if (hold === undefined) return;
  ledger.removeHold(id);
  change(ledger, hold, (account) => {
    account.held -= hold.amountMicros;
    if (hold.lease === undefined) account.open -= 1;
    else account.leases -= 1;
    also(account, hold);
  });
}

function open(account: Account, { amountMicros, lease }: Hold): void {
  account.held = add(account.held, amountMicros);
  if (lease === undefined) account.open += 1;
  else account.leases += 1;
}

function post(ledger: Ledger, to: Posting, cause: OverspendCause, micros: number): void {
  change(ledger, to, (account) => {
    account.posted = add(account.posted, micros);
    // What a correction takes away may have been covered by a hold.
    account.overspend[cause] = add(account.overspend[cause], Math.max(0, micros));
  });
}

function change(ledger: Ledger, to: Posting, each: (account: Account) => void): void {
  for (const key of accountsOf(to)) {
    if (!hasRoomFor(ledger, key)) continue;
    const account = ledger.account(key);
    if (account !== undefined) each(account);
  }
}

function report(ledger: Ledger, key: AccountKey, percent: number): void {
  const account = ledger.account(key);
  if (account !== undefined) account.reported = Math.max(account.reported, percent);
}

/** Adds all that is counted in an account to another one. */
export function addTo(sum: Account, account: Readonly<Account>): void {
  for (const name of ['posted', 'held', 'open', 'leases', 'released', 'expired'] as const) {
    sum[name] = add(sum[name], account[name]);
  }
  for (const cause of OVERSPEND_CAUSES) {
    sum.overspend[cause] = add(sum.overspend[cause], account.overspend[cause]);
  }
  sum.reported = Math.max(sum.reported, account.reported);
}

/** Saturating addition, so that sums of amounts stay exact integers. */
function add(sum: number, micros: number): number {
  return Math.min(sum + micros, Number.MAX_SAFE_INTEGER);
}
