import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
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
  metrics: Metrics;
  clock: Clock;
}): BudgetBook {
  const { book, read, clock } = deps;
  const known = new Map<TenantId, Known>();
  const outage = createOutage(deps);

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
        outage.ended(tenantId);
      },
      (err: unknown) => {
        // Its rules may be gone by now.
        if (known.has(tenantId)) outage.goesOn(tenantId, err);
      },
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
        if (ids === undefined) {
          known.delete(tenantId);
          outage.ended(tenantId);
        }
        for (const id of budgets.keys()) if (ids?.has(id) !== true) budgets.delete(id);
      }
      const askedAt = (tenantId: TenantId) => known.get(tenantId)?.askedAt ?? 0;
      const oldestFirst = [...book.budgets.keys()].sort((a, b) => askedAt(a) - askedAt(b));
      await Promise.all(oldestFirst.slice(0, READ_AT_A_TIME).map(ask));
    },
  };
}

/** Reports that budgets cannot be read: one line when it begins, and one when the last workspace can be read again. */
function createOutage({ logger, metrics }: { logger: Logger; metrics: Metrics }) {
  const failing = new Set<TenantId>();
  let failures = 0;
  const failed = metrics.counter({
    name: 'alerts_budget_read_failures_total',
    help: 'Reads of the budgets of a workspace that failed',
  });
  metrics.gauge({
    name: 'alerts_workspaces_without_budgets',
    help: 'Workspaces whose rules go on with the last known budgets, because these cannot be read',
    collect() {
      this.set(failing.size);
    },
  });
  return {
    goesOn(tenantId: TenantId, err: unknown): void {
      failed.inc();
      failures += 1;
      if (failing.size === 0) {
        logger.warn({ err, tenant_id: tenantId }, 'budgets cannot be read; rules go on with the last known budgets');
      }
      failing.add(tenantId);
    },
    ended(tenantId: TenantId): void {
      if (!failing.delete(tenantId) || failing.size > 0) return;
      logger.info({ failures }, 'budgets can be read again');
      failures = 0;
    },
  };
}
