import {
  type BudgetMessage,
  budgetsRequests,
  budgetsService,
  type BudgetsServiceDefinition,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

type PriceMessage = NonNullable<
  Awaited<ReturnType<UnaryHandlers<BudgetsServiceDefinition>['listPrices']>>['prices']
>[number];

type RaiseMessage = NonNullable<
  Awaited<ReturnType<UnaryHandlers<BudgetsServiceDefinition>['listGrantedRaises']>>['raises']
>[number];

/** A stand-in for budgets that answers from a table. */
export function createBudgetsStandIn(logger: Logger) {
  const workspaces = new Map<string, number>();
  const agents = new Map<string, number>();
  const plans = new Map<string, string[]>();
  const active = new Map<string, BudgetMessage[]>();
  const prices = new Map<string, PriceMessage[]>();
  const raises = new Map<string, RaiseMessage[]>();
  let calls = 0;

  const handlers: UnaryHandlers<BudgetsServiceDefinition> = {
    async getBudgets({ tenantId, agentIds }) {
      calls += 1;
      const daily = workspaces.get(tenantId);
      return {
        ...(daily !== undefined && { dailyBudgetUsdMicros: daily }),
        agents: agentIds.flatMap((agentId) => {
          const ofAgent = agents.get(`${tenantId}/${agentId}`);
          return ofAgent === undefined ? [] : [{ agentId, dailyBudgetUsdMicros: ofAgent }];
        }),
      };
    },
    async listBudgets({ tenantId }) {
      const daily = workspaces.get(tenantId);
      const ofAgents = [...agents].filter(([key]) => key.startsWith(`${tenantId}/`));
      return {
        ...(daily !== undefined && { dailyBudgetUsdMicros: daily }),
        agents: ofAgents.map(([key, micros]) => ({
          agentId: key.slice(tenantId.length + 1),
          dailyBudgetUsdMicros: micros,
        })),
        plans: (plans.get(tenantId) ?? []).map((planKey) => ({ planKey, dailyBudgetUsdMicros: 1, isActive: true })),
      };
    },
    listActiveBudgets: async ({ tenantId }) => ({ budgets: active.get(tenantId) ?? [] }),
    requestRaise: async () => ({}),
    async listGrantedRaises({ tenantId, from, until, max }) {
      const granted = (raises.get(tenantId) ?? []).filter(
        ({ grantedAt }) => Number(grantedAt) >= from && Number(grantedAt) < until,
      );
      const extraMicros = granted.reduce((sum, raise) => sum + Number(raise.extraMicros), 0);
      return { raises: granted.slice(0, max), count: granted.length, extraMicros };
    },
    listPrices: async ({ tenantId }) => ({ prices: prices.get(tenantId) ?? [] }),
  };

  return Object.assign(createPeers(logger, [grpcService(budgetsService, budgetsRequests, handlers)]), {
    /** How often GetBudgets was called. */
    calls: () => calls,
    setWorkspace: (tenantId: TenantId, micros: number) => workspaces.set(tenantId, micros),
    setPlans: (tenantId: TenantId, planKeys: string[]) => plans.set(tenantId, planKeys),
    setActive: (tenantId: TenantId, budgets: BudgetMessage[]) => active.set(tenantId, budgets),
    setPrices: (tenantId: TenantId, set: PriceMessage[]) => prices.set(tenantId, set),
    setRaises: (tenantId: TenantId, granted: RaiseMessage[]) => raises.set(tenantId, granted),
    setAgent: (tenantId: TenantId, agentId: string, micros: number) => agents.set(`${tenantId}/${agentId}`, micros),
  });
}
