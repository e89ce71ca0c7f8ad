import { budgetsService, type BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, IDENTIFIER, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { BudgetUseCases } from '../domain/budget.use-cases.ts';

const MAX_AGENT_IDS = 1000;

/** The gRPC contract of budgets.proto. */
export function createBudgetsHandlers(budgets: BudgetUseCases): GrpcService {
  const handlers: UnaryHandlers<BudgetsServiceDefinition> = {
    async getBudgets({ tenantId, agentIds }) {
      const tenant = toTenantId(tenantId);
      if (agentIds.length > MAX_AGENT_IDS) throw invalid('agent_ids', `must be at most ${MAX_AGENT_IDS}`);
      const [daily, agents] = await Promise.all([
        budgets.ofWorkspace(tenant),
        agentIds.length === 0 ? [] : budgets.ofAgents(tenant, agentIds),
      ]);
      return {
        ...(daily !== null && { dailyBudgetUsdMicros: daily }),
        agents: agents.flatMap(({ agentId, dailyBudgetMicros }) =>
          dailyBudgetMicros === null ? [] : [{ agentId, dailyBudgetUsdMicros: dailyBudgetMicros }],
        ),
      };
    },
  };
  return grpcService(budgetsService, handlers);
}

/** Peers name a tenant that they have proven themselves. */
function toTenantId(text: string): TenantId {
  if (!IDENTIFIER.test(text)) throw invalid('tenant_id', 'must be the id of a workspace');
  return provenTenantId(text);
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `The request is not valid: ${path} ${message}.`, {
    details: [{ path, message }],
  });
}
