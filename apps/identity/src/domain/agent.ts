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

/** A person's change is written to the audit trail in the same transaction. */
export interface AgentStore {
  /** The agents, ordered by `agentId`; with `after`, those that follow it. */
  list(tenantId: TenantId, page: { after?: string | undefined; limit: number }): Promise<Agent[]>;
  /** The agents of the workspace among these ids, ordered by `agentId`. */
  find(tenantId: TenantId, agentIds: readonly string[]): Promise<Agent[]>;
  /** False, with nothing stored, if the workspace already has the agent. */
  insert(tenantId: TenantId, agent: Agent, cause: Cause): Promise<boolean>;
  /** Stores the agents that the workspace does not have yet. Their ids become their names. */
  register(tenantId: TenantId, agentIds: readonly string[], at: Date): Promise<void>;
  /** Null if the workspace does not have the agent. */
  rename(tenantId: TenantId, agentId: string, displayName: string, cause: Cause): Promise<Agent | null>;
}
