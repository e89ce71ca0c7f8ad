import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/**
 * A named daily budget that calls can be made under. `key` is unique in the workspace and never changes.
 */
export interface Plan {
  id: string;
  key: string;
  displayName: string;
  description: string;
  /** USD micros. */
  dailyBudgetMicros: number;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** The changes of an update. A field that is absent or undefined stays as it is. */
export type PlanChanges = Partial<Pick<Plan, 'displayName' | 'description' | 'dailyBudgetMicros' | 'isActive'>>;

/** The fields of a plan that the audit log records. */
export const AUDITED_PLAN: AuditedFields<Omit<Plan, 'id'>> = {
  display_name: (plan) => plan.displayName,
  description: (plan) => plan.description,
  daily_budget_usd_micros: (plan) => plan.dailyBudgetMicros,
  is_active: (plan) => plan.isActive,
};

/** Most plans of a workspace. Deleting one makes room. */
export const MAX_PLANS = 500;

/**
 * Stores plans. Another workspace's plan does not exist for any method. A change is written to the audit
 * trail in its transaction, and one of the budget to the history.
 */
export interface PlanStore {
  /** By key. */
  list(tenantId: TenantId): Promise<Plan[]>;
  /** The plans of the workspace among these keys, by key. */
  find(tenantId: TenantId, keys: readonly string[]): Promise<Plan[]>;
  count(tenantId: TenantId): Promise<number>;
  /** False, with nothing stored, when the workspace has a plan with the key. */
  insert(tenantId: TenantId, plan: Plan, cause: Cause): Promise<boolean>;
  /**
   * The changed plan; null when the workspace has no plan with the key. Concurrent updates of different fields all take
   * effect.
   */
  update(
    tenantId: TenantId,
    key: string,
    changes: PlanChanges & { updatedAt: Date },
    cause: Cause,
  ): Promise<Plan | null>;
  /** False when the workspace has no plan with the key. */
  delete(tenantId: TenantId, key: string, cause: Cause): Promise<boolean>;
}
