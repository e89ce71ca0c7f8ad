import type { TenantId } from '@tollkeeper/kernel';

/** A daily budget in USD micros, or null when none is set. */
export type DailyBudget = number | null;

/** The budget that somebody gave an agent, or took from it again. */
export interface AgentBudget {
  agentId: string;
  dailyBudgetMicros: DailyBudget;
  updatedAt: Date;
}

/** Where the budgets of workspaces and agents are kept. Setting one again replaces it; the last write counts. */
export interface BudgetStore {
  /** Null for a workspace that nobody has set a budget for. */
  ofWorkspace(tenantId: TenantId): Promise<DailyBudget>;
  setWorkspace(tenantId: TenantId, dailyBudgetMicros: DailyBudget): Promise<void>;
  /** Budgets of agents that were ever set, by `agentId`: those of `agentIds`, or of all agents without it. */
  ofAgents(tenantId: TenantId, agentIds?: readonly string[]): Promise<AgentBudget[]>;
  setAgent(tenantId: TenantId, budget: AgentBudget): Promise<void>;
}

/** An agent as the service that keeps agents knows it. */
export interface Agent {
  agentId: string;
  displayName: string;
}

/**
 * Who the agents of a workspace are. Rejects with `service_unavailable` or `upstream_timeout` while it can't be asked.
 */
export interface AgentDirectory {
  /** Every agent of the workspace, by `agentId`. */
  list(tenantId: TenantId): Promise<Agent[]>;
  has(tenantId: TenantId, agentId: string): Promise<boolean>;
}
