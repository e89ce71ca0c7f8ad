import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A daily budget in USD micros; null if none is set. */
export type DailyBudget = number | null;

/** The last budget that was set for an agent; null if it was removed. */
export interface AgentBudget {
  agentId: string;
  dailyBudgetMicros: DailyBudget;
  updatedAt: Date;
}

/** The budget of an agent that has one. */
export type SetAgentBudget = AgentBudget & { dailyBudgetMicros: number };

export function isSet(budget: AgentBudget): budget is SetAgentBudget {
  return budget.dailyBudgetMicros !== null;
}

interface SetOptions {
  /** Changes only a budget that is set. */
  onlyIfSet?: boolean;
}

/**
 * Stores the budgets of workspaces and agents. A new budget replaces the old one; the last write wins. Changes are
 * written to the history and the audit trail in the same transaction.
 */
export interface DailyBudgetStore {
  /** Null if the workspace has no budget. */
  ofWorkspace(tenantId: TenantId): Promise<DailyBudget>;
  /** Null removes the budget. False, with nothing changed, if none is set with `onlyIfSet`. */
  setWorkspace(
    tenantId: TenantId,
    dailyBudgetMicros: DailyBudget,
    cause: Cause,
    options?: SetOptions,
  ): Promise<boolean>;
  /** The budgets of `agentIds`, or of all agents if absent, by `agentId`; only agents that ever had a budget. */
  ofAgents(tenantId: TenantId, agentIds?: readonly string[]): Promise<AgentBudget[]>;
  /** The first `limit` agents with a budget, by `agentId`, or those after the agent `after`. */
  listSetAgents(tenantId: TenantId, limit: number, after?: string): Promise<SetAgentBudget[]>;
  /** Like `setWorkspace`. */
  setAgent(
    tenantId: TenantId,
    budget: AgentBudget & { displayName: string },
    cause: Cause,
    options?: SetOptions,
  ): Promise<boolean>;
}

/** An agent as known to identity. */
export interface Agent {
  agentId: string;
  displayName: string;
}

/**
 * Knows the agents of a workspace. Rejects with `service_unavailable` or `upstream_timeout` if identity does not
 * answer.
 */
export interface AgentDirectory {
  /** Every agent of the workspace, by `agentId`. */
  list(tenantId: TenantId): Promise<Agent[]>;
  /** Those of the given agents that the workspace has. */
  find(tenantId: TenantId, agentIds: readonly string[]): Promise<Agent[]>;
}
