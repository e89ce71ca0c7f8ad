import type { TenantId } from '@tollkeeper/kernel';

/** An agent of a workspace. `displayName` is its `agentId` until somebody gives it a name. */
export interface Agent {
  agentId: string;
  displayName: string;
  createdAt: Date;
}

export interface AgentStore {
  /** The agents by `agentId`, from after that one on where it is given. */
  list(tenantId: TenantId, page: { after?: string | undefined; limit: number }): Promise<Agent[]>;
  /** Those of the ids that the workspace has, by `agentId`. */
  find(tenantId: TenantId, agentIds: readonly string[]): Promise<Agent[]>;
  /** False, and nothing kept, when the workspace has the agent already. */
  insert(tenantId: TenantId, agent: Agent): Promise<boolean>;
  /** Null when the workspace does not have the agent. */
  rename(tenantId: TenantId, agentId: string, displayName: string): Promise<Agent | null>;
}
