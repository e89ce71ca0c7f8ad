import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A named daily budget for calls made under it. `key` is unique in the workspace and never changes. */
export interface Plan {
  id: string;
  key: string;
  displayName: string;
  description: string;
  dailyBudgetMicros: number;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** The changes of an update. Absent or undefined fields stay as they are. */
export type PlanChanges = Partial<Pick<Plan, 'displayName' | 'description' | 'dailyBudgetMicros' | 'isActive'>>;

/** The fields of a plan that the audit log records. */
export const AUDITED_PLAN: AuditedFields<Omit<Plan, 'id'>> = {
  display_name: (plan) => plan.displayName,
  description: (plan) => plan.description,
  daily_budget_usd_micros: (plan) => plan.dailyBudgetMicros,
  is_active: (plan) => plan.isActive,
};

/** Maximum number of plans in a workspace; deleted ones do not count. */
export const MAX_PLANS = 500;

/**
 * Stores plans. No method finds a plan of another workspace. Changes are written to the audit trail, and those of a
 * budget also to the history, in the same transaction.
 */
export interface PlanStore {
  /** By key. */
  list(tenantId: TenantId): Promise<Plan[]>;
  /** The plans of the workspace with these keys, by key. */
  find(tenantId: TenantId, keys: readonly string[]): Promise<Plan[]>;
  count(tenantId: TenantId): Promise<number>;
  /** False, with nothing stored, if the workspace already has a plan with the key. */
  insert(tenantId: TenantId, plan: Plan, cause: Cause): Promise<boolean>;
  /**
   * The changed plan; null if the workspace has no plan with the key. Concurrent updates of different fields all take
   * effect.
   */
  update(
    tenantId: TenantId,
    key: string,
    changes: PlanChanges & { updatedAt: Date },
    cause: Cause,
  ): Promise<Plan | null>;
  /** False if the workspace has no plan with the key. */
  delete(tenantId: TenantId, key: string, cause: Cause): Promise<boolean>;
}
