import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { BudgetReader, BudgetTerms, BudgetTermsBook } from '../domain/budget.terms.ts';
import type { RuleBook } from '../domain/rule-book.ts';

/** Number of workspaces whose budgets are read at once. */
const READ_AT_A_TIME = 50;

/** Keeps the budgets that rules are about. */
export interface BudgetBook extends BudgetTermsBook {
  /**
   * Resolves once budgets has been asked for all budgets that rules of these workspaces are about. Resolves also if it
   * does not answer: what was asked for once is read again in the background.
   */
  learn(tenantIds: ReadonlySet<string>): Promise<void>;
  /** Reads the budgets that were not read for the longest time. */
  refresh(): Promise<void>;
}

/** Only the budgets that rules are about, by id: a workspace may have thousands of others. */
interface Known {
  askedAt: number;
  budgets: Map<string, { firstAnswer: Promise<void>; terms: BudgetTerms | null | undefined }>;
}

export function createBudgetBook(deps: {
  book: Pick<RuleBook, 'budgets'>;
  read: BudgetReader;
  logger: Logger;
  clock: Clock;
}): BudgetBook {
  const { book, read, logger, clock } = deps;
  const known = new Map<TenantId, Known>();

  function ask(tenantId: TenantId): Promise<void> {
    const ids = [...(book.budgets.get(tenantId) ?? [])];
    const budgets = known.get(tenantId)?.budgets ?? new Map<string, never>();
    const answer = read(tenantId).then(
      (all) => {
        for (const id of ids) {
          const budget = budgets.get(id);
          // No rule is about it any more.
          if (budget !== undefined) budget.terms = all.get(id) ?? null;
        }
      },
      (err: unknown) =>
        logger.warn({ err, tenant_id: tenantId }, 'budgets cannot be read; rules go on with the last known budgets'),
    );
    for (const id of ids) if (!budgets.has(id)) budgets.set(id, { firstAnswer: answer, terms: undefined });
    known.set(tenantId, { askedAt: clock(), budgets });
    return answer;
  }

  return {
    of: (tenantId, budgetId) => known.get(tenantId)?.budgets.get(budgetId)?.terms,
    async learn(tenantIds) {
      const concerned = [...book.budgets].filter(([tenantId]) => tenantIds.has(tenantId));
      const isNew = ([tenantId, ids]: (typeof concerned)[0]) =>
        [...ids].some((id) => known.get(tenantId)?.budgets.has(id) !== true);
      for (const [tenantId] of concerned.filter(isNew).slice(0, READ_AT_A_TIME)) void ask(tenantId);
      const answers = concerned.flatMap(([tenantId, ids]) =>
        [...ids].flatMap((id) => known.get(tenantId)?.budgets.get(id)?.firstAnswer ?? []),
      );
      await Promise.all(answers);
    },
    async refresh() {
      for (const [tenantId, { budgets }] of known) {
        const ids = book.budgets.get(tenantId);
        if (ids === undefined) known.delete(tenantId);
        for (const id of budgets.keys()) if (ids?.has(id) !== true) budgets.delete(id);
      }
      const askedAt = (tenantId: TenantId) => known.get(tenantId)?.askedAt ?? 0;
      const oldestFirst = [...book.budgets.keys()].sort((a, b) => askedAt(a) - askedAt(b));
      await Promise.all(oldestFirst.slice(0, READ_AT_A_TIME).map(ask));
    },
  };
}
