import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { BudgetReader, BudgetTerms, BudgetTermsBook } from '../domain/budget.terms.ts';
import type { RuleBook } from '../domain/rule-book.ts';

/** Number of workspaces whose budgets are read at once. */
const READ_AT_A_TIME = 50;

/** Keeps the budgets of workspaces with rules about budgets. */
export interface BudgetBook extends BudgetTermsBook {
  /** Reads the budgets of workspaces that were never read. Resolves also if that fails: they are read again later. */
  learn(): Promise<void>;
  /** Reads the budgets that were not read for the longest time. */
  refresh(): Promise<void>;
}

export function createBudgetBook(deps: {
  book: Pick<RuleBook, 'tenantsWithBudgets'>;
  read: BudgetReader;
  logger: Logger;
  clock: Clock;
}): BudgetBook {
  const { book, read, logger, clock } = deps;
  /** When they were last asked for, and the last answer. */
  const known = new Map<TenantId, { askedAt: number; terms: ReadonlyMap<string, BudgetTerms> | undefined }>();

  async function ask(tenantId: TenantId): Promise<void> {
    const terms = known.get(tenantId)?.terms;
    const entry = { askedAt: clock(), terms };
    known.set(tenantId, entry);
    try {
      entry.terms = await read(tenantId);
    } catch (err) {
      logger.warn({ err, tenant_id: tenantId }, 'budgets cannot be read; rules go on with the last known budgets');
    }
  }

  function forget(tenants: ReadonlySet<TenantId>): void {
    for (const tenantId of known.keys()) if (!tenants.has(tenantId)) known.delete(tenantId);
  }

  return {
    of(tenantId, budgetId) {
      const terms = known.get(tenantId)?.terms;
      return terms === undefined ? undefined : (terms.get(budgetId) ?? null);
    },
    async learn() {
      const fresh = [...book.tenantsWithBudgets()].filter((tenantId) => !known.has(tenantId));
      await Promise.all(fresh.slice(0, READ_AT_A_TIME).map(ask));
    },
    async refresh() {
      const tenants = new Set(book.tenantsWithBudgets());
      forget(tenants);
      const askedAt = (tenantId: TenantId) => known.get(tenantId)?.askedAt ?? 0;
      const oldestFirst = [...tenants].sort((a, b) => askedAt(a) - askedAt(b));
      await Promise.all(oldestFirst.slice(0, READ_AT_A_TIME).map(ask));
    },
  };
}
