import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Agent, AgentBudget, AgentDirectory, BudgetStore, DailyBudget, SetAgentBudget } from './budget.ts';

/** Keeps an answer well below the 4 MiB of a gRPC message. */
const MAX_LISTED_AGENTS = 10_000;

/** An agent of the workspace with its budget. `updatedAt` is null when no budget was ever set. */
export type AgentWithBudget = Agent & { dailyBudgetMicros: DailyBudget; updatedAt: Date | null };

/** Operations on the budgets of workspaces and agents. */
export interface BudgetUseCases {
  ofWorkspace(tenantId: TenantId): Promise<DailyBudget>;
  /** Null unsets it. */
  setWorkspace(tenantId: TenantId, dailyBudgetMicros: DailyBudget, cause: Cause): Promise<void>;
  /** Every agent of the workspace, by `agentId`, with or without a budget. */
  listAgents(tenantId: TenantId): Promise<AgentWithBudget[]>;
  /** Null unsets it. Rejects with `not_found` when the workspace has no such agent. */
  setAgent(tenantId: TenantId, agentId: string, dailyBudgetMicros: DailyBudget, cause: Cause): Promise<void>;
  /** The budgets that were ever set for these agents, by `agentId`. Whether the agents exist is not checked. */
  ofAgents(tenantId: TenantId, agentIds: readonly string[]): Promise<AgentBudget[]>;
  /** The budgets of agents that are set now, by `agentId`; the first 10 000. */
  listSetAgents(tenantId: TenantId): Promise<SetAgentBudget[]>;
}

export interface BudgetDeps {
  store: BudgetStore;
  agents: AgentDirectory;
  clock: Clock;
}

export function createBudgetUseCases({ store, agents, clock }: BudgetDeps): BudgetUseCases {
  return {
    ofWorkspace: (tenantId) => store.ofWorkspace(tenantId),
    setWorkspace: (tenantId, dailyBudgetMicros, cause) => store.setWorkspace(tenantId, dailyBudgetMicros, cause),
    ofAgents: (tenantId, agentIds) => store.ofAgents(tenantId, agentIds),
    listSetAgents: (tenantId) => store.listSetAgents(tenantId, MAX_LISTED_AGENTS),

    async listAgents(tenantId) {
      const [known, budgets] = await Promise.all([agents.list(tenantId), store.ofAgents(tenantId)]);
      const byAgent = new Map(budgets.map((budget) => [budget.agentId, budget]));
      return known.map((agent) => {
        const { dailyBudgetMicros = null, updatedAt = null } = byAgent.get(agent.agentId) ?? {};
        return { ...agent, dailyBudgetMicros, updatedAt };
      });
    },

    async setAgent(tenantId, agentId, dailyBudgetMicros, cause) {
      const agent = await agents.find(tenantId, agentId);
      if (agent === null) {
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
