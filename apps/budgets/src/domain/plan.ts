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

/** Most plans of a workspace. Deleting one makes room. */
export const MAX_PLANS = 500;

/**
 * Stores plans. Another workspace's plan does not exist for any method. `userId` is who changes it. A change of the
 * budget is written to the history in its transaction.
 */
export interface PlanStore {
  /** By key. */
  list(tenantId: TenantId): Promise<Plan[]>;
  /** The plans of the workspace among these keys, by key. */
  find(tenantId: TenantId, keys: readonly string[]): Promise<Plan[]>;
  count(tenantId: TenantId): Promise<number>;
  /** False, with nothing stored, when the workspace has a plan with the key. */
  insert(tenantId: TenantId, plan: Plan, userId: string): Promise<boolean>;
  /**
   * The changed plan; null when the workspace has no plan with the key. Concurrent updates of different fields all take
   * effect.
   */
  update(
    tenantId: TenantId,
    key: string,
    changes: PlanChanges & { updatedAt: Date },
    userId: string,
  ): Promise<Plan | null>;
  /** False when the workspace has no plan with the key. */
  delete(tenantId: TenantId, key: string, userId: string): Promise<boolean>;
}
