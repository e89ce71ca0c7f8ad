import { budgetsRequests, budgetsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { AgentBudget, DailyBudget, SetAgentBudget } from '../domain/budget.ts';
import type { BudgetUseCases } from '../domain/budget.use-cases.ts';
import type { Plan } from '../domain/plan.ts';
import type { PlanUseCases } from '../domain/plan.use-cases.ts';

/** The gRPC contract of budgets.proto. */
export function createBudgetsHandlers(budgets: BudgetUseCases, plans: PlanUseCases): GrpcService {
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
      const all = [budgets.ofWorkspace(tenantId), budgets.listSetAgents(tenantId), plans.list(tenantId)] as const;
      return toAnswer(...(await Promise.all(all)));
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
