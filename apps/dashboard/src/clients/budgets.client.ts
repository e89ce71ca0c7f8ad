import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { Budgets, KnownBudget } from '../domain/budget.ts';

/** Answers are used again for as long, so a budget that was changed shows within this time. */
const FRESH_MS = 2000;
/** A page is shown without its budget rather than late. */
const DEADLINE_MS = 1000;
const CACHED_BUDGETS = 20_000;

interface Question {
  tenantId: TenantId;
  /** The budget of the workspace without it. */
  agentId?: string;
}

/** Budgets as the budgets service has them. An outage of it is logged once for each budget that is asked for. */
export function createBudgetsClient(budgets: GrpcClient<BudgetsServiceDefinition>, logger: Logger): Budgets {
  async function ask({ tenantId, agentId }: Question): Promise<KnownBudget> {
    const agentIds = agentId === undefined ? [] : [agentId];
    const answer = await budgets.getBudgets({ tenantId, agentIds }, { deadlineMs: DEADLINE_MS });
    const { dailyBudgetUsdMicros: micros } = agentId === undefined ? answer : (answer.agents[0] ?? {});
    return { daily: micros === undefined ? null : Number(micros), stale: false };
  }

  // A failure is kept like an answer: while budgets is down, not every page waits for it.
  const known = new LRUCache<string, KnownBudget, Question>({
    max: CACHED_BUDGETS,
    ttl: FRESH_MS,
    // What is pushed out of the cache before it is answered is answered nevertheless.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, last, { context }) => {
      try {
        return await ask(context);
      } catch (err) {
        if (last?.stale !== true) logger.warn({ err }, 'budgets did not answer; the last known budget is shown');
        return { daily: last?.daily ?? null, stale: true };
      }
    },
  });

  return {
    // No id holds a slash.
    ofWorkspace: (tenantId) => known.forceFetch(tenantId, { context: { tenantId } }),
    ofAgent: (tenantId, agentId) => known.forceFetch(`${tenantId}/${agentId}`, { context: { tenantId, agentId } }),
  };
}
