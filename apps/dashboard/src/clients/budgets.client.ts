import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { Budgets, KnownBudget } from '../domain/budget.ts';

/** Milliseconds that an answer is reused, so a changed budget shows within this time. */
const FRESH_MS = 2000;
/** Milliseconds to wait for a budget. After that the page is shown without it. */
const DEADLINE_MS = 1000;
const CACHED_BUDGETS = 20_000;

interface Question {
  tenantId: TenantId;
  /** Without an agent: the budget of the workspace. */
  agentId?: string;
}

/** Reads budgets from the budgets service. An outage is logged once per budget. */
export function createBudgetsClient(budgets: GrpcClient<BudgetsServiceDefinition>, logger: Logger): Budgets {
  async function ask({ tenantId, agentId }: Question): Promise<KnownBudget> {
    const agentIds = agentId === undefined ? [] : [agentId];
    const answer = await budgets.getBudgets({ tenantId, agentIds }, { deadlineMs: DEADLINE_MS });
    const { dailyBudgetUsdMicros: micros } = agentId === undefined ? answer : (answer.agents[0] ?? {});
    return { daily: micros ?? null, stale: false };
  }

  // Failures are cached like answers, so that not every page waits while budgets is down.
  const known = new LRUCache<string, KnownBudget, Question>({
    ...roomFor(CACHED_BUDGETS),
    ttl: FRESH_MS,
    // A request that is evicted from the cache still gets its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, last, { context }) => {
      try {
        return await ask(context);
      } catch (err) {
        if (last?.stale !== true) logger.warn({ err }, 'budgets did not answer; showing the last known budget');
        return { daily: last?.daily ?? null, stale: true };
      }
    },
  });

  return {
    // No id contains a slash.
    ofWorkspace: (tenantId) => known.forceFetch(tenantId, { context: { tenantId } }),
    ofAgent: (tenantId, agentId) => known.forceFetch(`${tenantId}/${agentId}`, { context: { tenantId, agentId } }),
  };
}
