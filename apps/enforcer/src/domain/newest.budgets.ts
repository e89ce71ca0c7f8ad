import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { ActiveBudgets } from './active.budgets.ts';
import type { BudgetSource } from './peers.ts';

/** How often work is repeated because budgets have changed since it asked for them. */
const MAX_REPEATS = 3;

/** The ledger has met newer budgets than those of the request. Ask for those of `since` or later. */
export class StaleBudgets extends AppError {
  readonly since: number;

  constructor(since: number) {
    super('service_unavailable', 'The budgets of the workspace have just changed. Try again shortly.', {
      retryAfterSeconds: 1,
    });
    this.since = since;
  }
}

/**
 * Does the work with the budgets, and again with newer ones if the ledger has met those. Starts with `first`, or with
 * the known ones. Rejects with {@link StaleBudgets} if they change too often, and as {@link BudgetSource.since}.
 */
export async function withNewestBudgets<Answer>(
  budgets: BudgetSource,
  tenantId: TenantId,
  work: (active: ActiveBudgets) => Promise<Answer>,
  first?: ActiveBudgets,
): Promise<Answer> {
  let active = first ?? (await budgets.of(tenantId));
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await work(active);
    } catch (error) {
      if (!(error instanceof StaleBudgets) || repeats === MAX_REPEATS) throw error;
      active = await budgets.since(tenantId, error.since);
    }
  }
}
