import type { Cause } from '@tollkeeper/contracts';
import { type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { type Budget, type BudgetDraft, type BudgetStore, isCountedAnew } from './budget.ts';
import { requireFit, requireNotOverridden, requireRoom } from './budget.checks.ts';
import { type BudgetSource, type ListedBudget, partOf } from './listed-budget.ts';

/** The budgets that have a selector and a period of their own, by id. */
export interface OwnBudgetSource extends BudgetSource {
  /** Rejects with `conflict` if the workspace has too many, and with `invalid_request` if the budget does not fit. */
  create(tenantId: TenantId, draft: BudgetDraft, cause: Cause): Promise<ListedBudget>;
}

export function createBudgetSource({ store, clock }: { store: BudgetStore; clock: Clock }): OwnBudgetSource {
  const keyOf = (id: string): string | null => (/^bud_[0-9A-Za-z]{20}$/.test(id) ? id : null);

  return {
    keyOf,
    list: async (tenantId, part) => partOf((await store.list(tenantId)).map(toListed), part, keyOf),

    async find(tenantId, id) {
      const budget = await store.find(tenantId, id);
      return budget && toListed(budget);
    },

    async create(tenantId, draft, cause) {
      const id = newId('bud');
      const decide = (_current: Budget | null, others: readonly Budget[]): Budget => {
        requireRoom(others);
        const now = new Date(clock());
        const made = { ...draft, id, generation: 1, createdAt: now, updatedAt: now };
        requireFit(made, null, others, now.getTime());
        return made;
      };
      return toListed((await store.change(tenantId, id, decide, cause)).after);
    },

    async edit(tenantId, id, edit, cause) {
      const decide = (current: Budget | null, others: readonly Budget[]): Budget | null => {
        if (current === null) return null;
        const draft = edit(current);
        const generation = current.generation + (isCountedAnew(current, draft) ? 1 : 0);
        const now = new Date(clock());
        const edited = { ...current, ...draft, generation, updatedAt: now };
        requireFit(edited, current, others, now.getTime());
        return edited;
      };
      const { after } = await store.change(tenantId, id, decide, cause);
      return after && toListed(after);
    },

    async delete(tenantId, id, cause) {
      const decide = (_current: Budget | null, others: readonly Budget[]): null => {
        requireNotOverridden(id, others);
        return null;
      };
      return (await store.change(tenantId, id, decide, cause)).before !== null;
    },
  };
}

function toListed(budget: Budget): ListedBudget {
  return { ...budget, origin: 'none' };
}
