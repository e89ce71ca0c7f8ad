import {
  type BudgetEach,
  type BudgetScope,
  type BudgetsServiceDefinition,
  dailyBudgetId,
  fromWirePeriod,
} from '@tollkeeper/contracts';
import { type GrpcClient, isUnimplemented } from '@tollkeeper/grpc';
import type { BudgetPeriod, TenantId } from '@tollkeeper/kernel';
import type { BudgetList, LimitingBudget } from '../domain/budget.spend.ts';

/**
 * Reads all budgets of a workspace from the budgets service. Requests at the same time share an answer. It is not kept,
 * so that whoever changes a budget then finds the change.
 */
export function createBudgetList(
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listBudgets' | 'listActiveBudgets'>,
): BudgetList {
  const asked = new Map<TenantId, Promise<LimitingBudget[]>>();

  async function read(tenantId: TenantId): Promise<LimitingBudget[]> {
    const [daily, active] = await Promise.all([
      budgets.listBudgets({ tenantId }, {}),
      budgets.listActiveBudgets({ tenantId }, {}).catch((error: unknown) => {
        // Release 0.1.0 of budgets has daily budgets only.
        if (isUnimplemented(error)) return { budgets: [] };
        throw error;
      }),
    ]);
    const { dailyBudgetUsdMicros: ofWorkspace } = daily;
    return [
      ...(ofWorkspace === undefined ? [] : [dailyOf('workspace', '', ofWorkspace)]),
      ...daily.agents.map(({ agentId, dailyBudgetUsdMicros }) => dailyOf('agent', agentId, dailyBudgetUsdMicros)),
      ...daily.plans.map(({ planKey, dailyBudgetUsdMicros }) => dailyOf('plan', planKey, dailyBudgetUsdMicros)),
      ...active.budgets.map(({ id, name, selector, each, overrides = null, period, limitMicros }) => ({
        ...{ id, name, selector: selector ?? {}, overrides, limitMicros },
        each: (each as BudgetEach | undefined) ?? null,
        period: period ? fromWirePeriod(period) : null,
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

const SELECTORS: Record<BudgetScope, (key: string) => LimitingBudget['selector']> = {
  workspace: () => ({}),
  agent: (agent) => ({ agent }),
  plan: (plan) => ({ plan }),
};
const DAY: BudgetPeriod = { kind: 'day', startMonth: 1, startDay: 1 };

function dailyOf(scope: BudgetScope, key: string, limitMicros: number): LimitingBudget {
  const name = key === '' ? 'Workspace' : key;
  return {
    ...{ id: dailyBudgetId(scope, key), name, selector: SELECTORS[scope](key), each: null, overrides: null },
    ...{ limitMicros, period: DAY },
  };
}
