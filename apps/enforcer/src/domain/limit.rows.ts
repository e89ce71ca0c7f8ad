import { type BudgetScope, dailyBudgetId, PERIOD_ADJECTIVES } from '@tollkeeper/contracts';
import { type BudgetPeriod, MAX_MICROS, type TimeSpan } from '@tollkeeper/kernel';
import { countedIn, findPeriod, wholePeriod } from './budget.period.ts';
import type { Day } from './journal.ts';
import { type Account, dailyAccount, EMPTY_ACCOUNT, type Ledger } from './ledger.ts';
import type { CountState, DailyLimit, Denial, Limit, LimitRow } from './limit.ts';
import { raisedAt, type Raises } from './raise.ts';

/** The daily limits with their raises. */
export function withRaises(limits: readonly DailyLimit[], raises: Raises): readonly DailyLimit[] {
  if (raises.count === 0) return limits;
  return limits.map((limit) => {
    const found = raises.of(dailyBudgetId(limit.scope, limit.scopeId), '');
    return found === undefined ? limit : { ...limit, raises: found };
  });
}

/** The state of the limits at a time of the day, without those of budgets that are for no time then. */
export function rowsOf(ledger: Ledger, day: Day, now: number, limits: readonly Limit[]): LimitRow[] {
  return limits.flatMap((limit) => {
    const counts = countsOf(ledger, day, now, limit);
    return counts === null ? [] : toRow(limit, counts, now);
  });
}

/** What a limit counts in its running period. */
export interface LimitCounts {
  account: Readonly<Account>;
  period: TimeSpan;
  resetsAt: number;
  state: CountState;
}

/** Null for a budget that is for no time at that time. */
export function countsOf(ledger: Ledger, day: Day, now: number, limit: Limit): LimitCounts | null {
  const { budget } = limit;
  if (budget === undefined) {
    const account = ledger.readAccount(dailyAccount(limit.scope, day.start, limit.scopeId)) ?? EMPTY_ACCOUNT;
    return { account, period: { start: day.start, end: day.end }, resetsAt: day.end, state: 'exact' };
  }
  const current = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
  if (current === null) return null;
  const state = ledger.metering.meters.get(budget.meter)?.isExact === true ? 'exact' : 'filling';
  return { ...countedIn(ledger, budget, current), period: wholePeriod(budget, current), state };
}

/** `now` decides which raises are in force. */
export function toRow(limit: Limit, counts: LimitCounts, now: number): LimitRow {
  const { account, period, resetsAt, state } = counts;
  const spentMicros = Math.max(0, account.posted);
  const row = { ...limit, period, spentMicros, heldMicros: account.held, resetsAt, state };
  const raised = raisedAt(limit.raises, now);
  const remainingMicros = Math.max(0, grantableOf({ ...limit, raised }) - spentMicros - account.held);
  return { ...row, remainingMicros, ...(raised !== undefined && { raised }) };
}

/** The largest sum that the limit lets pass: with its grace, which a raise does not increase, and with its raises. */
function grantableOf({ limitMicros, budget, raised }: Limit & Pick<LimitRow, 'raised'>): number {
  const own = budget?.denies === true ? budget.grantableMicros : limitMicros;
  return Math.min(own + (raised?.micros ?? 0), MAX_MICROS);
}

/** The limit with its raises. */
export function limitInForce({ limitMicros, raised }: Pick<LimitRow, 'limitMicros' | 'raised'>): number {
  return Math.min(limitMicros + (raised?.micros ?? 0), MAX_MICROS);
}

/** Whether the limit lets a hold of the amount pass. A limit of 0 also stops calls that cost nothing. */
export function hasRoom(row: LimitRow, amountMicros: number): boolean {
  if (row.budget?.denies === false) return true;
  return limitInForce(row) > 0 && row.spentMicros + row.heldMicros + amountMicros <= grantableOf(row);
}

/** The row with the least remaining; the first of equal ones. */
export function leastRemaining(rows: readonly LimitRow[]): LimitRow | undefined {
  let least: LimitRow | undefined;
  for (const row of rows) if (least === undefined || row.remainingMicros < least.remainingMicros) least = row;
  return least;
}

export function toDenial(row: LimitRow, requestedMicros: number): Denial {
  return { ...row, requestedMicros, message: messageOf(row, requestedMicros) };
}

function messageOf(row: LimitRow, requestedMicros: number): string {
  const { spentMicros, heldMicros, raised } = row;
  const { id, value, period } = budgetOf(row);
  const grace = grantableOf(row) - limitInForce(row);
  const extra = raised === undefined ? '' : ` + ${usd(raised.micros)} until ${new Date(raised.until).toISOString()}`;
  const limit = `${PERIOD_ADJECTIVES[period]} budget of ${usd(row.limitMicros)}${extra}${grace > 0 ? ` and ${usd(grace)} of grace` : ''}`;
  const state = `has spent ${usd(spentMicros)} and holds ${usd(heldMicros)} of its ${limit}`;
  const settle = heldMicros > 0 ? 'Settle or release open reservations, return leases, ask' : 'Ask';
  const how = `POST /api/v1/raise-requests with budget_id ${id}${value === undefined ? '' : ` and value ${value}`}`;
  const wait = `wait until it resets at ${new Date(row.resetsAt).toISOString()}`;
  return `${whoseLimit(row)} ${state}, so there is no room for ${usd(requestedMicros)}. ${settle} an owner to raise the budget (${how}), or ${wait}.`;
}

function whoseLimit(limit: Limit): string {
  const { name, value } = budgetOf(limit);
  if (limit.budget === undefined) return WHOSE_DAILY[limit.scope](name);
  return value === undefined ? `Budget "${name}"` : `Budget "${name}" for ${value}`;
}

const DAILY_NAMES: Record<BudgetScope, (scopeId: string) => string> = {
  workspace: () => 'Workspace',
  agent: (agentId) => `Agent ${agentId}`,
  plan: (planKey) => `Plan ${planKey}`,
};

const WHOSE_DAILY: Record<BudgetScope, (name: string) => string> = {
  workspace: () => 'The workspace',
  agent: (name) => name,
  plan: (name) => name,
};

/** The budget of a limit, as answers and events have it. The limit of a pause is once, until it ends. */
export function budgetOf({ scope, scopeId, budget, pause }: Limit & Pick<Denial, 'pause'>): {
  id: string;
  name: string;
  value: string | undefined;
  period: BudgetPeriod['kind'];
} {
  if (budget === undefined) {
    const period = pause === undefined ? 'day' : 'once';
    return { id: dailyBudgetId(scope, scopeId), name: DAILY_NAMES[scope](scopeId), value: undefined, period };
  }
  const { name, value, period } = budget;
  return { id: scopeId, name, value: value === '' ? undefined : value, period: period.kind };
}

/** `$12.30`: all digits of the amount, but at least two decimals. */
function usd(micros: number): string {
  const digits = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `$${Math.floor(micros / 1_000_000)}.${digits}`;
}
