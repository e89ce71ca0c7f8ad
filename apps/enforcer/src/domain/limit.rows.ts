import type { Day } from './journal.ts';
import { EMPTY_ACCOUNT, type Ledger } from './ledger.ts';
import type { Denial, Limit, LimitRow } from './limit.ts';

/** The state of the limits on the day. */
export function rowsOf(ledger: Ledger, day: Day, limits: readonly Limit[]): LimitRow[] {
  return limits.map((limit) => {
    const { posted, held } = ledger.readAccount(day.start, limit) ?? EMPTY_ACCOUNT;
    const remainingMicros = Math.max(0, limit.dailyBudgetMicros - posted - held);
    return { ...limit, spentMicros: posted, heldMicros: held, remainingMicros, resetsAt: day.end };
  });
}

/** Whether a hold of the amount stays within the limit. A limit of 0 also stops calls that cost nothing. */
export function hasRoom({ dailyBudgetMicros, spentMicros, heldMicros }: LimitRow, amountMicros: number): boolean {
  return dailyBudgetMicros > 0 && spentMicros + heldMicros + amountMicros <= dailyBudgetMicros;
}

/** The row with the least remaining; the first of equal ones. */
export function leastRemaining(rows: readonly LimitRow[]): LimitRow | undefined {
  let least: LimitRow | undefined;
  for (const row of rows) if (least === undefined || row.remainingMicros < least.remainingMicros) least = row;
  return least;
}

export function toDenial({ remainingMicros: _, ...row }: LimitRow, requestedMicros: number): Denial {
  return { ...row, requestedMicros, message: messageOf(row, requestedMicros) };
}

function messageOf(row: Omit<LimitRow, 'remainingMicros'>, requestedMicros: number): string {
  const { dailyBudgetMicros, spentMicros, heldMicros } = row;
  const whose = { workspace: 'The workspace', agent: `Agent ${row.scopeId}`, plan: `Plan ${row.scopeId}` }[row.scope];
  const spent = `${whose} has spent ${usd(spentMicros)} and holds ${usd(heldMicros)} of its daily budget of`;
  const asked = `${usd(dailyBudgetMicros)}, so there is no room for ${usd(requestedMicros)}.`;
  const resets = new Date(row.resetsAt).toISOString();
  const settle = heldMicros > 0 ? 'Settle or release open reservations, ask' : 'Ask';
  return `${spent} ${asked} ${settle} an owner to raise the budget, or wait until it resets at ${resets}.`;
}

/** `$12.30`: all digits of the amount, but at least two decimals. */
function usd(micros: number): string {
  const digits = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `$${Math.floor(micros / 1_000_000)}.${digits}`;
}
