import type { LimitScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DailyBudget } from './daily-budget.ts';

/** A change of the limit of a budget by a person. */
export interface BudgetChange {
  scope: LimitScope;
  /** The `agent_id`, `plan_key` or id of the budget, or the id of the workspace. */
  scopeId: string;
  /** Null if there was none, including before the creation of a plan or budget. */
  previousMicros: DailyBudget;
  /** Null if there is none, including after the deletion of a plan or budget. */
  dailyBudgetMicros: DailyBudget;
  /** Id of the user. */
  changedBy: string;
  changedAt: Date;
}

/** Which changes to list. `scopeId` is within the scope. */
type ChangeFilter = { scope?: undefined } | { scope: LimitScope; scopeId?: string | undefined };

/** A position in a list: that of the last change of a page. */
export interface ChangePlace {
  /** Epoch milliseconds. */
  time: number;
  id: string;
}

/** Reads the changes of a workspace, never those of another. */
export interface BudgetHistory {
  /** At most `limit` changes after `after`, newest first, and the place of the last one; null if no more follow. */
  list(
    tenantId: TenantId,
    filter: ChangeFilter,
    page: { limit: number; after: ChangePlace | undefined },
  ): Promise<{ changes: BudgetChange[]; next: ChangePlace | null }>;
}
