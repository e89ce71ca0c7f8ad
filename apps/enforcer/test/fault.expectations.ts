import { setTimeout as delay } from 'node:timers/promises';
import type { TenantId } from '@tollkeeper/kernel';
import { type budgetsOfRun, grantableOf, hasLimit, isMadeLater, nameOf } from './fault.budgets.ts';
import { readAsOwner } from './fault.owner.ts';

/** Maximum time until the remaining events are posted. */
const PATIENCE_MS = 180_000;

/** The expected final state of an account. */
export interface Expected {
  spent: number;
  held: number;
  open: number;
  aboveHold: number;
  late: number;
  unreserved: number;
  released: number;
  expired: number;
}

/** Sums over several limits, in USD micros. */
export interface Sums {
  limits: number;
  spent: number;
  /** The terms of the bound. */
  terms: number;
  /** Spend above the limits. */
  over: number;
}

interface LimitBody {
  scope: string;
  scope_id: string;
  value?: string;
  limit_micros: number;
  spent_micros: number;
  held_micros: number;
  open_reservations: number;
  overspend_micros: { above_hold: number; late: number; unreserved: number };
  released: number;
  expired: number;
  state: string;
}

/** Of spend before its beginning, a budget that was made later does not know how it came about. */
const KNOWN_OF_FILLED: readonly (keyof Expected)[] = ['spent', 'held', 'open'];

/**
 * Compares all limits of the workspace with the expected state, once the events are posted, the holds expired and the
 * budgets filled.
 */
export async function compareLimits(
  port: number,
  budgets: ReturnType<typeof budgetsOfRun>,
  { tenantId, expected }: { tenantId: TenantId; expected: ReadonlyMap<string, Expected> },
) {
  const overOf = (row: LimitBody): number => Math.max(0, row.spent_micros - grantableOf(budgets, row));
  let found: string[] = [];
  let sum: Sums = { limits: 0, over: 0, spent: 0, terms: 0 };
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const limits = await readAsOwner<{ items: LimitBody[] }>(port, tenantId, '/limits');
    if (limits !== null) {
      const { items } = limits;
      found = items.flatMap((row) => problemsOf(row, overOf(row), expected.get(nameOf(row))));
      const own = items.map((row) => ({ terms: termsOf(row), over: overOf(row), spent: Number(row.spent_micros) }));
      sum = {
        limits: items.length,
        over: own.reduce((total, { over }) => total + over, 0),
        terms: own.reduce((total, { terms }) => total + terms, 0),
        spent: own.reduce((total, { spent }) => total + spent, 0),
      };
      const names = new Set(items.map(nameOf));
      const missing = [...expected.keys()].filter((name) => hasLimit(name) && !names.has(name));
      found.push(...missing.map((name) => `${tenantId} has no limit ${name}`));
      if (found.length === 0) return { found, sum };
    }
    if (Date.now() > deadline) return { found: found.length === 0 ? ['no answer to /limits'] : found, sum };
    await delay(200);
  }
}

const termsOf = (row: LimitBody): number =>
  row.overspend_micros.above_hold + row.overspend_micros.late + row.overspend_micros.unreserved;

function problemsOf(row: LimitBody, over: number, expected: Expected | undefined): string[] {
  if (expected === undefined) return row.spent_micros + row.held_micros === 0 ? [] : ['unexpected spend'];
  const is: Expected = {
    spent: row.spent_micros,
    held: row.held_micros,
    open: row.open_reservations,
    aboveHold: row.overspend_micros.above_hold,
    late: row.overspend_micros.late,
    unreserved: row.overspend_micros.unreserved,
    released: row.released,
    expired: row.expired,
  };
  const where = nameOf(row);
  const known = isMadeLater(where) ? KNOWN_OF_FILLED : (Object.keys(is) as (keyof Expected)[]);
  const problems = known
    .filter((field) => is[field] !== expected[field])
    .map((field) => `${where}: ${field} is ${is[field]} and must be ${expected[field]}`);
  if (row.state !== 'exact') problems.push(`${where}: is ${row.state}`);
  if (over > termsOf(row)) problems.push(`${where}: over its limit by more than the terms of the bound`);
  return problems;
}
