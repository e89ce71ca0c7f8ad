import { budgetsRequests, budgetsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { BudgetUseCases } from '../domain/budget.use-cases.ts';

/** The gRPC contract of budgets.proto. */
export function createBudgetsHandlers(budgets: BudgetUseCases): GrpcService {
  return grpcService(budgetsService, budgetsRequests, {
    async getBudgets({ tenantId, agentIds }) {
      const [daily, agents] = await Promise.all([
        budgets.ofWorkspace(tenantId),
        agentIds.length === 0 ? [] : budgets.ofAgents(tenantId, agentIds),
      ]);
      return {
        ...(daily !== null && { dailyBudgetUsdMicros: daily }),
        agents: agents.flatMap(({ agentId, dailyBudgetMicros }) =>
          dailyBudgetMicros === null ? [] : [{ agentId, dailyBudgetUsdMicros: dailyBudgetMicros }],
        ),
      };
    },
  });
}
