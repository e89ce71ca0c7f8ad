import type { BudgetRiskMessage, LimitsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import { type BudgetRisk, type BudgetRisks, MAX_SHOWN_BUDGETS } from '../domain/budget-risk.ts';

/** Milliseconds that an answer is reused. */
const FRESH_MS = 2000;
/** Milliseconds to wait for the budgets. After that the page is shown without them. */
const DEADLINE_MS = 1000;
const CACHED_WORKSPACES = 5_000;

interface Known {
  /** Null if the enforcer did not answer. */
  budgets: readonly BudgetRisk[] | null;
}

/** Reads the state of budgets from the enforcer. An outage is logged once per workspace. */
export function createBudgetRisks(
  enforcer: Pick<GrpcClient<LimitsServiceDefinition>, 'listBudgetsByRisk'>,
  logger: Logger,
): BudgetRisks {
  // Failures are cached like answers, so that not every page waits while the enforcer is down.
  const known = new LRUCache<TenantId, Known>({
    ...roomFor(CACHED_WORKSPACES),
    ttl: FRESH_MS,
    // A request that is evicted from the cache still gets its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (tenantId, last) => {
      try {
        const answer = await enforcer.listBudgetsByRisk(
          { tenantId, max: MAX_SHOWN_BUDGETS },
          { deadlineMs: DEADLINE_MS },
        );
        return { budgets: answer.budgets.flatMap(toBudgetRisk) };
      } catch (err) {
        if (last?.budgets !== null)
          logger.warn({ err, tenant_id: tenantId }, 'the enforcer did not answer; showing no budgets at risk');
        return { budgets: null };
      }
    },
  });
  return { ofWorkspace: async (tenantId) => (await known.forceFetch(tenantId)).budgets };
}

function toBudgetRisk({ limit, paceEndMicros, isAtRisk }: BudgetRiskMessage): BudgetRisk[] {
  if (!limit?.period) return [];
  const { budgetId, budgetName, value, limitMicros, spentMicros, heldMicros, isFilling, raisedMicros } = limit;
  const { kind, start, end } = limit.period;
  return [
    {
      ...{ budgetId, budgetName, value, isAtRisk, isFilling },
      period: { kind, start: toMillis(start), end: toMillis(end) },
      ...(raisedMicros !== undefined && { raised: { micros: raisedMicros, until: toMillis(limit.raisedUntil) } }),
      ...{ limitMicros, spentMicros, heldMicros, paceEndMicros: paceEndMicros ?? null },
    },
  ];
}

/** A google.protobuf.Timestamp as epoch milliseconds. */
function toMillis(timestamp: { seconds: number; nanos: number } | null): number {
  return (timestamp?.seconds ?? 0) * 1000 + (timestamp?.nanos ?? 0) / 1_000_000;
}
