import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** An agent of a workspace. `displayName` is the `agentId` until somebody names the agent. */
export interface Agent {
  agentId: string;
  displayName: string;
  createdAt: Date;
}

/** The fields of an agent that the audit log records. */
export const AUDITED_AGENT: AuditedFields<Pick<Agent, 'displayName'>> = { display_name: (agent) => agent.displayName };

/** What a person changes is written to the audit trail in its transaction. */
export interface AgentStore {
  /** The agents by `agentId`; with `after`, those that follow it. */
  list(tenantId: TenantId, page: { after?: string | undefined; limit: number }): Promise<Agent[]>;
  /** The agents of the workspace among these ids, by `agentId`. */
  find(tenantId: TenantId, agentIds: readonly string[]): Promise<Agent[]>;
  /** False, with nothing stored, when the workspace has the agent already. */
  insert(tenantId: TenantId, agent: Agent, cause: Cause): Promise<boolean>;
  /** Stores the agents that the workspace does not have yet. Their ids become their names. */
  register(tenantId: TenantId, agentIds: readonly string[], at: Date): Promise<void>;
  /** Null when the workspace does not have the agent. */
  rename(tenantId: TenantId, agentId: string, displayName: string, cause: Cause): Promise<Agent | null>;
}
