import { type Cause, invalidRequest } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { BudgetDraft } from './budget.ts';
import type { OwnBudgetSource } from './budget.source.ts';
import { type BudgetSource, type ListedBudget, type Origin, ORIGINS } from './listed-budget.ts';

interface ListQuery {
  /** Only budgets of this origin. */
  origin: Origin | undefined;
  isActive: boolean | undefined;
  /** The id of the last budget of the previous page. */
  after: string | undefined;
  limit: number;
}

/** What people can do with all budgets. Every method rejects with `not_found` for a budget of another workspace. */
export interface BudgetUseCases {
  /** A page in the order of {@link ORIGINS}, by key within each, and the id after which more follow; null if none. */
  list(tenantId: TenantId, query: ListQuery): Promise<{ budgets: ListedBudget[]; next: string | null }>;
  get(tenantId: TenantId, id: string): Promise<ListedBudget>;
  create: OwnBudgetSource['create'];
  /**
   * `edit` may run again on a newer budget. Rejects as `create` does, and with `conflict` if a budget that overrides
   * this one would no longer fit, or for a field that a daily budget cannot change.
   */
  edit(
    tenantId: TenantId,
    id: string,
    edit: (current: BudgetDraft) => BudgetDraft,
    cause: Cause,
  ): Promise<ListedBudget>;
  /** Unsets a daily budget; a plan is deleted. Rejects with `conflict` if another budget overrides this one. */
  delete(tenantId: TenantId, id: string, cause: Cause): Promise<void>;
}

export type BudgetSources = Record<Exclude<Origin, 'none'>, BudgetSource> & { none: OwnBudgetSource };

export function createBudgetUseCases(sources: BudgetSources): BudgetUseCases {
  function keyed(id: string): { origin: Origin; key: string } | null {
    for (const origin of ORIGINS) {
      const key = sources[origin].keyOf(id);
      if (key !== null) return { origin, key };
    }
    return null;
  }

  function sourceOf(id: string): { source: BudgetSource; key: string } {
    const named = keyed(id);
    if (named === null) noSuchBudget();
    return { source: sources[named.origin], key: named.key };
  }

  return {
    async list(tenantId, { origin, isActive, after, limit }) {
      const last = after === undefined ? undefined : (keyed(after) ?? noSuchPlace());
      const first = last === undefined ? 0 : ORIGINS.indexOf(last.origin);
      const budgets: ListedBudget[] = [];
      for (const each of ORIGINS.slice(first)) {
        if (origin !== undefined && origin !== each) continue;
        const part = {
          isActive,
          after: each === last?.origin ? last.key : undefined,
          limit: limit + 1 - budgets.length,
        };
        budgets.push(...(await sources[each].list(tenantId, part)));
        if (budgets.length > limit) break;
      }
      const page = budgets.slice(0, limit);
      return { budgets: page, next: budgets.length > limit ? (page.at(-1)?.id ?? null) : null };
    },

    async get(tenantId, id) {
      const { source, key } = sourceOf(id);
      return (await source.find(tenantId, key)) ?? noSuchBudget();
    },

    create: (tenantId, draft, cause) => sources.none.create(tenantId, draft, cause),

    async edit(tenantId, id, edit, cause) {
      const { source, key } = sourceOf(id);
      return (await source.edit(tenantId, key, edit, cause)) ?? noSuchBudget();
    },

    async delete(tenantId, id, cause) {
      const { source, key } = sourceOf(id);
      if (!(await source.delete(tenantId, key, cause))) noSuchBudget();
    },
  };
}

function noSuchBudget(): never {
  throw new AppError('not_found', 'This workspace has no budget with that budget_id, or it is not set.');
}

function noSuchPlace(): never {
  const message = 'must be the next_cursor of an earlier response; omit it to start at the first budget';
  throw invalidRequest([{ path: 'cursor', message }], 1);
}
