import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Agent, AgentDirectory, DailyBudgetStore, DailyBudget } from './daily-budget.ts';

/** An agent of the workspace with its budget. `updatedAt` is null if it never had one. */
export type AgentWithBudget = Agent & { dailyBudgetMicros: DailyBudget; updatedAt: Date | null };

/** The operations on budgets that need more than their store. */
export interface DailyBudgetUseCases {
  /** Every agent of the workspace, by `agentId`, with or without a budget. */
  listAgents(tenantId: TenantId): Promise<AgentWithBudget[]>;
  /** Null removes the budget. Rejects with `not_found` if the workspace has no such agent. */
  setAgent(tenantId: TenantId, agentId: string, dailyBudgetMicros: DailyBudget, cause: Cause): Promise<void>;
}

export interface DailyBudgetDeps {
  store: DailyBudgetStore;
  agents: AgentDirectory;
  clock: Clock;
}

export function createDailyBudgetUseCases({ store, agents, clock }: DailyBudgetDeps): DailyBudgetUseCases {
  return {
    async listAgents(tenantId) {
      const [known, budgets] = await Promise.all([agents.list(tenantId), store.ofAgents(tenantId)]);
      const byAgent = new Map(budgets.map((budget) => [budget.agentId, budget]));
      return known.map((agent) => {
        const { dailyBudgetMicros = null, updatedAt = null } = byAgent.get(agent.agentId) ?? {};
        return { ...agent, dailyBudgetMicros, updatedAt };
      });
    },

    async setAgent(tenantId, agentId, dailyBudgetMicros, cause) {
      const [agent] = await agents.find(tenantId, [agentId]);
      if (agent === undefined) {
        throw new AppError(
          'not_found',
          'This workspace has no agent with that agent_id. Create it with POST /api/v1/agents.',
        );
      }
      const { displayName } = agent;
      await store.setAgent(tenantId, { agentId, displayName, dailyBudgetMicros, updatedAt: new Date(clock()) }, cause);
    },
  };
}
