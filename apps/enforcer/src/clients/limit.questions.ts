import type { BudgetScope, BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { createQuestions, type GrpcClient, type Questions } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import type { DailyLimit } from '../domain/limit.ts';
import { type Account, accountAt, accountsOf, budgetsIn } from './limit.account.ts';

/** Deadline for budgets. A call waits for at most two answers and must be decided within 500 ms. */
const DEADLINE_MS = 200;
/** Maximum number of ids of each kind in one question (budgets.proto). */
const MAX_ASKED = 1000;

/** The answer of budgets about an account. */
export interface Known {
  /** When budgets was asked. */
  at: number;
  /** Null if no budget is set, or the plan does not exist. */
  limit: DailyLimit | null;
  /** Whether the plan is active; true for other accounts. */
  isActive: boolean;
}

export interface LimitQuestionsDeps {
  budgets: GrpcClient<BudgetsServiceDefinition>;
  /** The cached answers, by account key. */
  known: { set(key: string, known: Known): unknown };
  logger: Logger;
  now: () => number;
}

/** Asks budgets one question about a workspace at a time, by account keys. The answers are in the cache. */
export function createLimitQuestions({ budgets, known, logger, now }: LimitQuestionsDeps): Questions {
  const warn = createSparingWarner(logger, now, 'budgets does not answer; the last known limits stay in force');

  async function ask(tenantId: TenantId, agentIds: string[], planKeys: string[]): Promise<void> {
    const at = now();
    const answer = await budgets.getBudgets({ tenantId, agentIds, planKeys }, { deadlineMs: DEADLINE_MS });
    const set = new Map(budgetsIn(tenantId, answer).map((budget) => [budget.account.key, budget]));
    for (const { key } of accountsOf(tenantId, { workspace: [tenantId], agent: agentIds, plan: planKeys })) {
      const budget = set.get(key);
      known.set(key, { at, limit: budget?.limit ?? null, isActive: budget?.isActive ?? true });
    }
  }

  return createQuestions(async (tenantId, keys) => {
    const accounts = keys.map(accountAt);
    const [agents, plans] = [idsOf(accounts, 'agent'), idsOf(accounts, 'plan')];
    try {
      // The first call also asks for the workspace itself.
      for (let start = 0; start === 0 || start < Math.max(agents.length, plans.length); start += MAX_ASKED) {
        const end = start + MAX_ASKED;
        await ask(tenantId, agents.slice(start, end), plans.slice(start, end));
      }
    } catch (error) {
      warn({ err: error });
      throw unavailable(error);
    }
  }, now);
}

function idsOf(accounts: Account[], scope: BudgetScope): string[] {
  return accounts.filter((account) => account.scope === scope).map(({ scopeId }) => scopeId);
}

export function unavailable(cause?: unknown): AppError {
  const message = 'The budgets of the workspace cannot be read right now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
