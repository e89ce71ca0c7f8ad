import { BUDGET_SCOPES, type BudgetScope, type BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { DailyLimit } from '../domain/limit.ts';

/** What may have a limit, in the terms of budgets. */
export interface Account {
  scope: BudgetScope;
  scopeId: string;
  /** The cache key. */
  key: string;
}

/** Sorted in the order of the scopes. */
export function accountsOf(tenantId: TenantId, ids: Record<BudgetScope, readonly string[]>): Account[] {
  return BUDGET_SCOPES.flatMap((scope) => ids[scope].map((scopeId) => accountOf(tenantId, scope, scopeId)));
}

function accountOf(tenantId: TenantId, scope: BudgetScope, scopeId: string): Account {
  // Unambiguous: no id contains a slash.
  return { scope, scopeId, key: `${tenantId}/${scope}/${scopeId}` };
}

/** The account with a cache key. */
export function accountAt(key: string): Account {
  const [, scope, scopeId] = key.split('/');
  return { scope: scope as BudgetScope, scopeId: scopeId!, key };
}

/** The answer of either RPC. */
type Answer = Awaited<ReturnType<GrpcClient<BudgetsServiceDefinition>['getBudgets' | 'listBudgets']>>;
interface SetBudget {
  scopeId: string;
  micros: number;
  isActive: boolean;
}

/** The budgets in an answer, by scope. */
const SET_IN: Record<BudgetScope, (answer: Answer, tenantId: TenantId) => SetBudget[]> = {
  workspace: ({ dailyBudgetUsdMicros: micros }, tenantId) =>
    micros === undefined ? [] : [{ scopeId: tenantId, micros, isActive: true }],
  agent: ({ agents }) =>
    agents.map(({ agentId, dailyBudgetUsdMicros }) => ({
      scopeId: agentId,
      micros: dailyBudgetUsdMicros,
      isActive: true,
    })),
  plan: ({ plans }) =>
    plans.map(({ planKey, dailyBudgetUsdMicros, isActive }) => ({
      scopeId: planKey,
      micros: dailyBudgetUsdMicros,
      isActive,
    })),
};

/** Sorted in the order of the scopes. */
export function budgetsIn(
  tenantId: TenantId,
  answer: Answer,
): { account: Account; limit: DailyLimit; isActive: boolean }[] {
  return BUDGET_SCOPES.flatMap((scope) =>
    SET_IN[scope](answer, tenantId).map(({ scopeId, micros, isActive }) => ({
      account: accountOf(tenantId, scope, scopeId),
      limit: { scope, scopeId, limitMicros: micros },
      isActive,
    })),
  );
}
