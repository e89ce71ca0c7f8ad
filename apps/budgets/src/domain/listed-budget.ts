import { type BudgetScope, type Cause, changesOf } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { AUDITED_BUDGET, type BudgetDraft } from './budget.ts';

/** The daily budget that a budget is; `none` for a budget with a selector and a period of its own. */
export const ORIGINS = ['none', 'workspace', 'plan', 'agent'] as const satisfies readonly (BudgetScope | 'none')[];
export type Origin = (typeof ORIGINS)[number];

/** A budget as people see it, whichever collection it is in. */
export interface ListedBudget extends BudgetDraft {
  id: string;
  origin: Origin;
  /** Null if the time was not kept, as for the daily budgets of the workspace and of agents. */
  createdAt: Date | null;
  /** Null if the time was not kept, as for the daily budget of the workspace. */
  updatedAt: Date | null;
}

/** What part of the budgets of an origin to list. */
export interface ListPart {
  /** Only budgets that are active, or only those that are not. */
  isActive: boolean | undefined;
  /** Only budgets after the one with this key. */
  after: string | undefined;
  limit: number;
}

/**
 * The budgets of an origin, by a key that is unique among them. No method finds a budget of another workspace.
 *
 * Daily budgets stay in the collections that they have always been in (ADR 25), and a source shows them as budgets.
 */
export interface BudgetSource {
  /** The key of a budget with this id; null if such an id is of another origin. */
  keyOf(id: string): string | null;
  /** By key. */
  list(tenantId: TenantId, part: ListPart): Promise<ListedBudget[]>;
  /** Null if there is none. */
  find(tenantId: TenantId, key: string): Promise<ListedBudget | null>;
  /** `edit` may run several times. The budget as it is then; null if there is none. */
  edit(
    tenantId: TenantId,
    key: string,
    edit: (current: BudgetDraft) => BudgetDraft,
    cause: Cause,
  ): Promise<ListedBudget | null>;
  /** False if there is none. */
  delete(tenantId: TenantId, key: string, cause: Cause): Promise<boolean>;
}

/**
 * Throws `conflict` if a field of a daily budget would change that is the same for all of them. `editable` are the
 * names of the others in the API.
 */
export function requireEditable(current: ListedBudget, edited: BudgetDraft, editable: readonly string[]): void {
  const fixed = changesOf(AUDITED_BUDGET, current, edited).filter(({ field }) => !editable.includes(field));
  if (fixed.length === 0) return;
  throw new AppError(
    'conflict',
    `This is a daily budget, of which only ${editable.join(', ')} can change. ` +
      'For anything else, create a budget with POST /api/v1/budgets and delete this one.',
    { details: fixed.map(({ field }) => ({ path: field, message: 'cannot change for a daily budget' })) },
  );
}

/** The part of all budgets of an origin, which are in the order of their keys. */
export function partOf(
  budgets: readonly ListedBudget[],
  { isActive, after, limit }: ListPart,
  keyOf: (id: string) => string | null,
): ListedBudget[] {
  const isChosen = (budget: ListedBudget): boolean =>
    (isActive === undefined || budget.isActive === isActive) &&
    (after === undefined || (keyOf(budget.id) ?? '') > after);
  return budgets.filter(isChosen).slice(0, limit);
}
