import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { MAX_PLANS, type Plan, type PlanChanges, type PlanStore } from './plan.ts';

type NewPlan = Pick<Plan, 'key' | 'displayName' | 'description' | 'dailyBudgetMicros'>;

export interface PlanUseCases {
  /**
   * Creates an active plan. Rejects with `conflict` if the key is taken or the workspace has {@link MAX_PLANS} plans.
   */
  create(tenantId: TenantId, plan: NewPlan, cause: Cause): Promise<Plan>;
  /** Changes only the given fields. Rejects with `not_found`. */
  update(tenantId: TenantId, key: string, changes: PlanChanges, cause: Cause): Promise<Plan>;
  /** Rejects with `not_found`. The key can be used again at once. */
  delete(tenantId: TenantId, key: string, cause: Cause): Promise<void>;
}

export function createPlanUseCases({ store, clock }: { store: PlanStore; clock: Clock }): PlanUseCases {
  return {
    async create(tenantId, fields, cause) {
      if ((await store.count(tenantId)) >= MAX_PLANS) {
        throw new AppError('conflict', `The workspace has ${MAX_PLANS} plans. Delete one that is not needed.`);
      }
      const now = new Date(clock());
      const plan = { id: newId('plan'), ...fields, isActive: true, createdAt: now, updatedAt: now };
      if (await store.insert(tenantId, plan, cause)) return plan;
      const details = [{ path: 'plan_key', message: 'is taken; choose another, or use PUT to change the plan' }];
      throw new AppError(
        'conflict',
        `The workspace already has a plan with the plan_key ${fields.key}. Choose another one.`,
        { details },
      );
    },

    async update(tenantId, key, changes, cause) {
      const updatedAt = new Date(clock());
      return (await store.update(tenantId, key, { ...changes, updatedAt }, cause)) ?? noSuchPlan();
    },

    async delete(tenantId, key, cause) {
      if (!(await store.delete(tenantId, key, cause))) noSuchPlan();
    },
  };
}

function noSuchPlan(): never {
  throw new AppError('not_found', 'This workspace has no plan with that plan_key.');
}
