import { BUDGET_SCOPES, type BudgetScope } from '@tollkeeper/contracts';
import type { Day, Hold, Op, OpOf, Posting } from './journal.ts';
import type { OverspendCause } from './limit.ts';

/** What a workspace, an agent or a plan has spent and reserved on one day, in USD micros. */
export interface Account {
  /** Settled spend. */
  posted: number;
  /** Held by open reservations. */
  held: number;
  open: number;
  released: number;
  expired: number;
  /** Posted spend that no hold covered. */
  overspend: Record<OverspendCause, number>;
  /** The highest percentage of the limit that was reported. */
  reported: number;
}

/** Identifies an account. That of the workspace has the workspace's id as `scopeId`. */
export interface AccountName {
  scope: BudgetScope;
  scopeId: string;
}

/** The state of a workspace: its days with their accounts, and its holds. Only {@link applyOp} changes it. */
export interface Ledger {
  /** In order of time. */
  readonly days: readonly Day[];
  readonly holdCount: number;
  /** Approximate memory of the holds in bytes. */
  readonly holdBytes: number;
  hold(id: string): Hold | undefined;
  setHold(hold: Hold): void;
  removeHold(id: string): void;
  addDay(day: Day): void;
  /** Number of accounts of the scope on the day; 0 for an unknown day. */
  accountCount(day: number, scope: BudgetScope): number;
  /** For reading only; undefined if nothing was spent or held, and for an unknown day. */
  readAccount(day: number, name: AccountName): Readonly<Account> | undefined;
  /** For changes; undefined for an unknown day. */
  account(day: number, name: AccountName): Account | undefined;
}

/** How long a day is kept after its end: as long as late spend may be posted to it. */
export const KEEP_DAY_MS = 3 * 86_400_000;

/**
 * Maximum number of agents, and of plans, of a workspace per day. Spend of others is posted only to the remaining
 * accounts, and they get no reservations.
 */
export const MAX_ACCOUNTS = 20_000;

export const EMPTY_ACCOUNT: Readonly<Account> = newAccount();

export function newAccount(): Account {
  return {
    posted: 0,
    held: 0,
    open: 0,
    released: 0,
    expired: 0,
    overspend: { above_hold: 0, late: 0, unreserved: 0 },
    reported: 0,
  };
}

type Call = Pick<Posting, 'agentId' | 'planKey'>;

/** The accounts in which a call of an agent under a plan counts. */
export function accountNamesOf(call: Call): AccountName[] {
  const names: AccountName[] = [];
  for (const scope of BUDGET_SCOPES) {
    const scopeId = SCOPE_ID_OF[scope](call);
    if (scopeId !== null) names.push({ scope, scopeId });
  }
  return names;
}

/** The scope id of the account in which a call counts, or null; the workspace needs no id within its ledger. */
const SCOPE_ID_OF: Record<BudgetScope, (call: Call) => string | null> = {
  workspace: () => '',
  agent: ({ agentId }) => agentId,
  plan: ({ planKey }) => planKey,
};

/** Whether a ledger, which is of one workspace, has several accounts of the scope. */
export const HAS_SEVERAL: Record<BudgetScope, boolean> = { workspace: false, agent: true, plan: true };

/** Whether the account exists or may still be created. */
export function hasRoomFor(ledger: Ledger, day: number, name: AccountName): boolean {
  if (!HAS_SEVERAL[name.scope] || ledger.accountCount(day, name.scope) < MAX_ACCOUNTS) return true;
  return ledger.readAccount(day, name) !== undefined;
}

/**
 * Applies an op of the journal. Ops about a removed hold or day change nothing. Throws for an unknown op, because a
 * ledger without it would grant too much.
 */
export function applyOp(ledger: Ledger, op: Op): void {
  switch (op.op) {
    case 'day':
      return ledger.addDay({ start: op.start, end: op.end, timezone: op.timezone });
    case 'grant': {
      ledger.setHold(toHold(op));
      return change(ledger, op, (account) => {
        account.held = add(account.held, op.amountMicros);
        account.open += 1;
      });
    }
    case 'extend': {
      const hold = ledger.hold(op.id);
      if (hold !== undefined) ledger.setHold({ ...hold, expiresAt: op.expiresAt });
      return;
    }
    case 'expire':
      return end(ledger, op.id, (account) => {
        account.expired += 1;
      });
    case 'release':
      return end(ledger, op.id, (account) => {
        account.released += 1;
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
    case 'report': {
      const account = ledger.account(op.day, op);
      if (account !== undefined) account.reported = Math.max(account.reported, op.percent);
      return;
    }
    default: {
      const { op: name } = op satisfies never as { op: string };
      throw new Error(`The journal has an op "${name}" of a newer version of this service. Update every replica.`);
    }
  }
}

function toHold({ op: _, ...hold }: OpOf<'grant'>): Hold {
  return hold;
}

function end(ledger: Ledger, id: string, also: (account: Account, hold: Hold) => void): void {
  const hold = ledger.hold(id);
  if (hold === undefined) return;
  ledger.removeHold(id);
  change(ledger, hold, (account) => {
    account.held -= hold.amountMicros;
    account.open -= 1;
    also(account, hold);
  });
}

function post(ledger: Ledger, to: Posting, cause: OverspendCause, micros: number): void {
  change(ledger, to, (account) => {
    account.posted = add(account.posted, micros);
    account.overspend[cause] = add(account.overspend[cause], micros);
  });
}

function change(ledger: Ledger, to: Posting, each: (account: Account) => void): void {
  for (const name of accountNamesOf(to)) {
    if (!hasRoomFor(ledger, to.day, name)) continue;
    const account = ledger.account(to.day, name);
    if (account !== undefined) each(account);
  }
}

/** Saturating addition, so that sums of amounts stay exact integers. */
function add(sum: number, micros: number): number {
  return Math.min(sum + micros, Number.MAX_SAFE_INTEGER);
}
