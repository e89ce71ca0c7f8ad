import type { BudgetScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DailyBudget } from './budget.ts';

/** A daily budget that a person changed. */
export interface BudgetChange {
  scope: BudgetScope;
  /** The `agent_id` or the `plan_key`; of the workspace, its id. */
  scopeId: string;
  /** Null when there was none, also before a plan was created. */
  previousMicros: DailyBudget;
  /** Null when there is none, also after a plan was deleted. */
  dailyBudgetMicros: DailyBudget;
  /** Id of the user. */
  changedBy: string;
  changedAt: Date;
}

/** Which changes to list. `scopeId` is of the scope. */
type ChangeFilter = { scope?: undefined } | { scope: BudgetScope; scopeId?: string | undefined };

/** A place in a list: the last change of a page. */
export interface ChangePlace {
  /** Epoch milliseconds. */
  time: number;
  id: string;
}

/** Reads the changes of a workspace. Another workspace's changes do not exist. */
export interface BudgetHistory {
  /** At most `limit` changes after `after`, newest first, and the place of the last one; null when no more follow. */
  list(
    tenantId: TenantId,
    filter: ChangeFilter,
    page: { limit: number; after: ChangePlace | undefined },
  ): Promise<{ changes: BudgetChange[]; next: ChangePlace | null }>;
}
