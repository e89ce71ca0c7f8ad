import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A daily budget in USD micros, or null when none is set. */
export type DailyBudget = number | null;

/** The last budget that was set for an agent; null when it was removed. */
export interface AgentBudget {
  agentId: string;
  dailyBudgetMicros: DailyBudget;
  updatedAt: Date;
}

/** The budget of an agent that has one. */
export type SetAgentBudget = Pick<AgentBudget, 'agentId'> & { dailyBudgetMicros: number };

/**
 * Stores the budgets of workspaces and agents. A new budget replaces the old one; the last write counts. A change
 * is written to the history and to the audit trail in its transaction.
 */
export interface BudgetStore {
  /** Null for a workspace that nobody has set a budget for. */
  ofWorkspace(tenantId: TenantId): Promise<DailyBudget>;
  /** Null unsets it. */
  setWorkspace(tenantId: TenantId, dailyBudgetMicros: DailyBudget, cause: Cause): Promise<void>;
  /** The budgets that were ever set, by `agentId`: those of `agentIds`, or of all agents when that is absent. */
  ofAgents(tenantId: TenantId, agentIds?: readonly string[]): Promise<AgentBudget[]>;
  /** The first `limit` budgets of agents that are set now, by `agentId`. */
  listSetAgents(tenantId: TenantId, limit: number): Promise<SetAgentBudget[]>;
  setAgent(tenantId: TenantId, budget: AgentBudget & { displayName: string }, cause: Cause): Promise<void>;
}

/** An agent, as identity knows it. */
export interface Agent {
  agentId: string;
  displayName: string;
}

/**
 * Knows the agents of a workspace. Rejects with `service_unavailable` or `upstream_timeout` when identity does not
 * answer.
 */
export interface AgentDirectory {
  /** Every agent of the workspace, by `agentId`. */
  list(tenantId: TenantId): Promise<Agent[]>;
  find(tenantId: TenantId, agentId: string): Promise<Agent | null>;
}
