// How release 0.1.0 reads journals and snapshots, copied from its ledger.ts and snapshot.store.ts. Do not change it.

interface Account {
  posted: number;
  held: number;
  open: number;
  released: number;
  expired: number;
  overspend: { above_hold: number; late: number; unreserved: number };
  reported: number;
}

interface Call {
  day: number;
  agentId: string;
  planKey: string | null;
}

interface Hold extends Call {
  id: string;
  amountMicros: number;
  expiresAt: number;
}

type Op =
  | { op: 'day'; start: number; end: number; timezone: string }
  | ({ op: 'grant' } & Hold)
  | { op: 'extend'; id: string; expiresAt: number }
  | { op: 'expire' | 'release'; id: string }
  | { op: 'settle'; id: string; micros: number; counted: boolean }
  | ({ op: 'late'; micros: number; counted: boolean } & Call)
  | ({ op: 'post'; micros: number } & Call)
  | { op: 'report'; day: number; scope: string; scopeId: string; percent: number };

/** The ledger of release 0.1.0: its days, holds, and accounts by `day/scope/scopeId`. */
export interface ReleasedLedger {
  days: Map<number, { start: number; end: number; timezone: string }>;
  holds: Map<string, Hold>;
  accounts: Map<string, Account>;
}

const emptyLedger = (): ReleasedLedger => ({ days: new Map(), holds: new Map(), accounts: new Map() });

/** What release 0.1.0 makes of the content of a snapshot. Throws what it throws. */
export function readReleasedSnapshot(content: object): ReleasedLedger {
  const ledger = emptyLedger();
  const { days, accounts, holds } = content as {
    days: { start: number; end: number; timezone: string }[];
    accounts: [number, { scope: string; scopeId: string }, Account][];
    holds: Hold[];
  };
  for (const day of days) ledger.days.set(day.start, day);
  for (const [day, name, account] of accounts) Object.assign(accountOf(ledger, day, name)!, account);
  for (const hold of holds) ledger.holds.set(hold.id, hold);
  return ledger;
}

/** What release 0.1.0 makes of the stored entries of a journal. Throws what it throws. */
export function readReleasedJournal(
  entries: readonly { ops: readonly { op: string }[] }[],
  ledger: ReleasedLedger = emptyLedger(),
): ReleasedLedger {
  for (const { ops } of entries) for (const op of ops) applyOp(ledger, op as Op);
  return ledger;
}

function applyOp(ledger: ReleasedLedger, op: Op): void {
  switch (op.op) {
    case 'day':
      return void ledger.days.set(op.start, { start: op.start, end: op.end, timezone: op.timezone });
    case 'grant':
      ledger.holds.set(op.id, op);
      return change(ledger, op, (account) => {
        account.held += op.amountMicros;
        account.open += 1;
      });
    case 'extend': {
      const hold = ledger.holds.get(op.id);
      if (hold !== undefined) ledger.holds.set(op.id, { ...hold, expiresAt: op.expiresAt });
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
        account.posted += op.micros;
        account.overspend.above_hold += Math.max(0, op.micros - hold.amountMicros);
      });
    case 'late':
      return op.counted ? undefined : post(ledger, op, 'late', op.micros);
    case 'post':
      return post(ledger, op, 'unreserved', op.micros);
    case 'report': {
      const account = accountOf(ledger, op.day, op);
      if (account !== undefined) account.reported = Math.max(account.reported, op.percent);
      return;
    }
    default: {
      const { op: name } = op satisfies never as { op: string };
      throw new Error(`The journal has an op "${name}" of a newer version of this service. Update every replica.`);
    }
  }
}

function end(ledger: ReleasedLedger, id: string, also: (account: Account, hold: Hold) => void): void {
  const hold = ledger.holds.get(id);
  if (hold === undefined) return;
  ledger.holds.delete(id);
  change(ledger, hold, (account) => {
    account.held -= hold.amountMicros;
    account.open -= 1;
    also(account, hold);
  });
}

function post(ledger: ReleasedLedger, to: Call, cause: keyof Account['overspend'], micros: number): void {
  change(ledger, to, (account) => {
    account.posted += micros;
    account.overspend[cause] += micros;
  });
}

function change(ledger: ReleasedLedger, { day, agentId, planKey }: Call, each: (account: Account) => void): void {
  const names = [
    { scope: 'workspace', scopeId: '' },
    { scope: 'agent', scopeId: agentId },
    ...(planKey === null ? [] : [{ scope: 'plan', scopeId: planKey }]),
  ];
  for (const name of names) {
    const account = accountOf(ledger, day, name);
    if (account !== undefined) each(account);
  }
}

function accountOf(
  { days, accounts }: ReleasedLedger,
  day: number,
  { scope, scopeId }: { scope: string; scopeId: string },
): Account | undefined {
  if (!days.has(day)) return undefined;
  const key = `${day}/${scope}/${scope === 'workspace' ? '' : scopeId}`;
  const known = accounts.get(key);
  if (known !== undefined) return known;
  const overspend = { above_hold: 0, late: 0, unreserved: 0 };
  const made = { posted: 0, held: 0, open: 0, released: 0, expired: 0, overspend, reported: 0 };
  accounts.set(key, made);
  return made;
}
