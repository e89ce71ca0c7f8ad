import { budgetsRequests, budgetsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import { type Budget, type BudgetStore, toldAt } from '../domain/budget.ts';
import { type DailyBudget, type DailyBudgetStore, isSet, type SetAgentBudget } from '../domain/daily-budget.ts';
import type { Plan, PlanStore } from '../domain/plan.ts';

/** Keeps an answer well below the 4 MiB of a gRPC message. */
const MAX_LISTED_AGENTS = 10_000;

export interface BudgetsHandlersDeps {
  budgets: BudgetStore;
  daily: DailyBudgetStore;
  plans: PlanStore;
}

/** The handlers of budgets.proto. */
export function createBudgetsHandlers({ budgets, daily, plans }: BudgetsHandlersDeps): GrpcService {
  return grpcService(budgetsService, budgetsRequests, {
    async getBudgets({ tenantId, agentIds, planKeys }) {
      const [ofWorkspace, ofAgents, ofPlans] = await Promise.all([
        daily.ofWorkspace(tenantId),
        agentIds.length === 0 ? [] : daily.ofAgents(tenantId, agentIds).then((found) => found.filter(isSet)),
        planKeys.length === 0 ? [] : plans.find(tenantId, planKeys),
      ]);
      return toAnswer(ofWorkspace, ofAgents, ofPlans);
    },

    async listBudgets({ tenantId }) {
      const [ofWorkspace, ofAgents, ofPlans] = await Promise.all([
        daily.ofWorkspace(tenantId),
        daily.listSetAgents(tenantId, MAX_LISTED_AGENTS),
        plans.list(tenantId),
      ]);
      return toAnswer(ofWorkspace, ofAgents, ofPlans);
    },

    async listActiveBudgets({ tenantId }) {
      const active = (await budgets.list(tenantId)).filter(({ isActive }) => isActive);
      return { budgets: active.map(toBudgetMessage) };
    },
  });
}

function toAnswer(daily: DailyBudget, agents: SetAgentBudget[], plans: Plan[]) {
  return {
    ...(daily !== null && { dailyBudgetUsdMicros: daily }),
    agents: agents.map(({ agentId, dailyBudgetMicros }) => ({ agentId, dailyBudgetUsdMicros: dailyBudgetMicros })),
    plans: plans.map(({ key, dailyBudgetMicros, isActive }) => ({
      planKey: key,
      dailyBudgetUsdMicros: dailyBudgetMicros,
      isActive,
    })),
  };
}

function toBudgetMessage(budget: Budget) {
  const { id, generation, name, selector, each, limitMicros, action, gracePercent, overrides } = budget;
  return {
    ...{ id, generation, name, selector, limitMicros, gracePercent },
    ...(each !== null && { each }),
    ...(overrides !== null && { overrides }),
    period: budget.period,
    denies: action === 'deny',
    tellAt: [...toldAt(budget)],
  };
}
