import type { BudgetEach, BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { dailyBudgetId } from '@tollkeeper/contracts';
import { type GrpcClient, isUnimplemented } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { BudgetList, SelectingBudget } from '../domain/budget-medians.ts';

/**
 * Reads all budgets of a workspace from the budgets service. Requests at the same time share an answer. It is not kept,
 * so that whoever changes a budget then finds the change.
 */
export function createBudgetList(
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listBudgets' | 'listActiveBudgets'>,
): BudgetList {
  const asked = new Map<TenantId, Promise<SelectingBudget[]>>();

  async function read(tenantId: TenantId): Promise<SelectingBudget[]> {
    const [daily, active] = await Promise.all([
      budgets.listBudgets({ tenantId }, {}),
      budgets.listActiveBudgets({ tenantId }, {}).catch((error: unknown) => {
        // Release 0.1.0 of budgets has daily budgets only.
        if (isUnimplemented(error)) return { budgets: [] };
        throw error;
      }),
    ]);
    return [
      ...(daily.dailyBudgetUsdMicros === undefined ? [] : [dailyOf('workspace', '', {})]),
      ...daily.agents.map(({ agentId }) => dailyOf('agent', agentId, { agent: agentId })),
      ...daily.plans.map(({ planKey }) => dailyOf('plan', planKey, { plan: planKey })),
      ...active.budgets.map(({ id, selector, each, overrides = null }) => ({
        ...{ id, selector: selector ?? {}, overrides },
        each: (each as BudgetEach | undefined) ?? null,
      })),
    ];
  }

  return {
    of(tenantId) {
      const present = asked.get(tenantId);
      if (present !== undefined) return present;
      const answer = read(tenantId).finally(() => asked.delete(tenantId));
      asked.set(tenantId, answer);
      return answer;
    },
  };
}

function dailyOf(
  scope: Parameters<typeof dailyBudgetId>[0],
  scopeId: string,
  selector: SelectingBudget['selector'],
): SelectingBudget {
  return { id: dailyBudgetId(scope, scopeId), selector, each: null, overrides: null };
}
