import type { TenantId, TimeSpan } from '@tollkeeper/kernel';

/** Most budgets that the overview shows. */
export const MAX_SHOWN_BUDGETS = 10;

/** A budget in its running period, and whether it will last. Amounts are USD micros. */
export interface BudgetRisk {
  budgetId: string;
  budgetName: string;
  /** The value that the limit is for, if the budget has one for each value. */
  value: string | undefined;
  period: TimeSpan & { kind: string };
  limitMicros: number;
  /** What raises add to it, and when the first of them ends; undefined without any. */
  raised?: { micros: number; until: number } | undefined;
  spentMicros: number;
  heldMicros: number;
  /** Spend at the end of the period at the pace of its elapsed part; null if that cannot be foreseen. */
  paceEndMicros: number | null;
  isAtRisk: boolean;
  /** Whether spend from before the budget was made or changed is not fully counted yet. */
  isFilling: boolean;
}

/** Knows what is spent of the budgets. It never rejects, so spend is shown even when they are unknown. */
export interface BudgetRisks {
  /** The budgets that are most at risk, those first, at most 2 s old. Null while the enforcer does not answer. */
  ofWorkspace(tenantId: TenantId): Promise<readonly BudgetRisk[] | null>;
}
