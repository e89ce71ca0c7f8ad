import type { Api } from '@tollkeeper/client';
import { budgetSentence } from '../../text/budget-sentence.ts';
import { type Origin, originOf } from './budget-reads.ts';
import type { Sort } from './budgets-search.ts';
import { riskOf, usedOf } from './risk.ts';

/** A row of the worksheet: a budget, or below it one of the values that have its limit each. */
export interface SheetRow {
  key: string;
  budget: Api.Budget;
  /** The value, if the row is for one. */
  value: string | undefined;
  /** The budget in a sentence. */
  says: string;
  /** The limit with the highest risk; undefined if the budget is not active, or nothing was spent of it yet. */
  limit: Api.Limit | undefined;
  used: number;
  forecast: number | null;
  risk: number;
}

export interface Figures {
  budgets: readonly Api.Budget[];
  limits: readonly Api.Limit[];
  /** The zone of the workspace. */
  zone: string;
}

/** A row for each budget. */
export function rowsOf({ budgets, limits, zone }: Figures): SheetRow[] {
  const byBudget = Map.groupBy(limits, ({ budget_id }) => budget_id);
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return budgets.map((budget) => {
    const own = byRisk(byBudget.get(budget.id) ?? []);
    const overridden = budget.overrides === null ? undefined : names.get(budget.overrides);
    return {
      key: budget.id,
      budget,
      value: undefined,
      says: budgetSentence(budget, { zone, overridden }),
      ...figuresOf(own[0]),
    };
  });
}

/** A row for each value of the budget of a row, those at risk first. */
export function valueRowsOf({ budget }: SheetRow, limits: readonly Api.Limit[]): SheetRow[] {
  return byRisk(limits).map((limit) => ({
    key: `${budget.id} ${limit.value}`,
    budget,
    value: limit.value ?? '',
    says: '',
    ...figuresOf(limit),
  }));
}

function byRisk(limits: readonly Api.Limit[]): Api.Limit[] {
  return limits.toSorted((a, b) => riskOf(b) - riskOf(a));
}

function figuresOf(limit: Api.Limit | undefined) {
  if (limit === undefined) return { limit, used: 0, forecast: null, risk: -1 };
  return { limit, used: usedOf(limit), forecast: limit.pace_end_micros ?? null, risk: riskOf(limit) };
}

const byName = (a: SheetRow, b: SheetRow): number => a.budget.name.localeCompare(b.budget.name);

const ORDERS: Record<Sort, (a: SheetRow, b: SheetRow) => number> = {
  risk: (a, b) => b.risk - a.risk || byName(a, b),
  name: byName,
  limit: (a, b) => b.budget.limit_micros - a.budget.limit_micros || byName(a, b),
};

/** The ids of the budgets in this order. The one that a link leads to is first: long lists draw only visible rows. */
export function orderOf(rows: readonly SheetRow[], sort: Sort, ledTo: string | undefined): string[] {
  return rows
    .toSorted((a, b) => Number(b.key === ledTo) - Number(a.key === ledTo) || ORDERS[sort](a, b))
    .map(({ key }) => key);
}

/** Whether the row is of the origin, and has the text in its name or its sentence. */
export function isShown({ budget, says }: SheetRow, origin: Origin | undefined, find: string): boolean {
  if (origin !== undefined && originOf(budget) !== origin) return false;
  return `${budget.name} ${says}`.toLowerCase().includes(find.trim().toLowerCase());
}
