import { budgetsRequests, budgetsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { AgentBudget, BudgetStore, DailyBudget, SetAgentBudget } from '../domain/budget.ts';
import type { Plan, PlanStore } from '../domain/plan.ts';

/** Keeps an answer well below the 4 MiB of a gRPC message. */
const MAX_LISTED_AGENTS = 10_000;

/** The handlers of budgets.proto. */
export function createBudgetsHandlers(budgets: BudgetStore, plans: PlanStore): GrpcService {
  return grpcService(budgetsService, budgetsRequests, {
    async getBudgets({ tenantId, agentIds, planKeys }) {
      const [daily, ofAgents, ofPlans] = await Promise.all([
        budgets.ofWorkspace(tenantId),
        agentIds.length === 0 ? [] : budgets.ofAgents(tenantId, agentIds),
        planKeys.length === 0 ? [] : plans.find(tenantId, planKeys),
      ]);
      return toAnswer(daily, ofAgents.flatMap(toSet), ofPlans);
    },

    async listBudgets({ tenantId }) {
      const [daily, ofAgents, ofPlans] = await Promise.all([
        budgets.ofWorkspace(tenantId),
        budgets.listSetAgents(tenantId, MAX_LISTED_AGENTS),
        plans.list(tenantId),
      ]);
      return toAnswer(daily, ofAgents, ofPlans);
    },
  });
}

function toSet({ agentId, dailyBudgetMicros }: AgentBudget): SetAgentBudget[] {
  return dailyBudgetMicros === null ? [] : [{ agentId, dailyBudgetMicros }];
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
