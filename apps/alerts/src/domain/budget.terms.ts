import {
  BUDGET_DIMENSIONS,
  type BudgetedCall,
  type BudgetEach,
  type BudgetSelector,
  isSelected,
  valueOfEach,
} from '@tollkeeper/contracts';
import type { BudgetPeriod, TenantId, TimeSpan } from '@tollkeeper/kernel';

/** What a rule needs to know of a budget, as owners have set it. */
export interface BudgetTerms {
  id: string;
  name: string;
  limitMicros: number;
  period: BudgetPeriod;
  /** IANA name of the zone of the workspace, in whose calendar the period is. */
  timezone: string;
  /** Without undefined values, which a store would return as null. */
  selector: BudgetSelector;
  /** That of which each value has the limit for itself; null if all calls share it. */
  each: BudgetEach | null;
  /** Values of `each` for which other budgets have a limit instead. */
  excluded: readonly string[];
}

/** The budget that a rule fired about. Times are epoch milliseconds. */
export interface BudgetFacts {
  budgetId: string;
  budgetName: string;
  /** The value that the limit is for; null if the budget has no limit for each value, and for further values. */
  value: string | null;
  /** Whether it is about all values together that have no sums of their own. */
  isOfOthers: boolean;
  limitMicros: number;
  periodKind: BudgetPeriod['kind'];
  /** Null outside of a period that is once. */
  period: TimeSpan | null;
}

/** Whether both count the same calls. The name, the limit and the period may differ. */
export function countSameCalls(a: BudgetTerms, b: BudgetTerms): boolean {
  return counted(a) === counted(b);
}

function counted({ id, selector, each, excluded }: BudgetTerms): string {
  const patterns = BUDGET_DIMENSIONS.map((dimension) => selector[dimension] ?? null);
  return JSON.stringify([id, patterns, Object.entries(selector.labels ?? {}).sort(), each, excluded.toSorted()]);
}

/** Whether the same time belongs to the same period of both. */
export function haveSamePeriods(a: BudgetTerms, b: BudgetTerms): boolean {
  const described = ({ period, timezone }: BudgetTerms) => JSON.stringify([timezone, Object.entries(period).sort()]);
  return described(a) === described(b);
}

/** Reads the budgets of a workspace, by id. Rejects while they cannot be read. */
export type BudgetReader = (tenantId: TenantId) => Promise<ReadonlyMap<string, BudgetTerms>>;

/** The budgets that rules are about. They are read in the background, so that evaluation never waits for them. */
export interface BudgetTermsBook {
  /** Null if the workspace has no such budget, undefined if that is not known yet. */
  of(tenantId: TenantId, budgetId: string): BudgetTerms | null | undefined;
}

/** The series of a budget without `each`. Never a value, since none begins with a space. */
export const ALL_CALLS = ' all';

/** The value that the call counts for; null if it does not count for the budget. */
export function valueFor({ selector, each, excluded }: BudgetTerms, call: BudgetedCall): string | null {
  if (!isSelected(selector, call)) return null;
  const value = each === null ? ALL_CALLS : valueOfEach(each, call);
  return value === null || excluded.includes(value) ? null : value;
}
