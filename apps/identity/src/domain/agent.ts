import { type AuditedFields, type Cause, type Labels, auditedLabels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** An agent of a workspace. `displayName` is the `agentId` until somebody names the agent. */
export interface Agent {
  agentId: string;
  displayName: string;
  /** The labels of every call of the agent. */
  labels: Labels;
  createdAt: Date;
}

/** The changes of an update. Absent or undefined fields stay as they are. */
export type AgentChange = Partial<Pick<Agent, 'displayName' | 'labels'>>;

/** The fields of an agent that the audit log records. */
export const AUDITED_AGENT: AuditedFields<Agent> = {
  display_name: (agent) => agent.displayName,
  labels: (agent) => auditedLabels(agent.labels),
};

/** What other services need of an agent; its labels only if they were asked for, and if it has any. */
export type NamedAgent = Pick<Agent, 'agentId' | 'displayName'> & { labels?: Labels | undefined };

/** A person's change is written to the audit trail in the same transaction. */
export interface AgentStore {
  /** The agents, ordered by `agentId`; with `after`, those that follow it. */
  list(tenantId: TenantId, page: { after?: string | undefined; limit: number }): Promise<Agent[]>;
  /** Null if the workspace does not have the agent. */
  find(tenantId: TenantId, agentId: string): Promise<Agent | null>;
  /** The agents of the workspace among these ids, or the first ones without ids, ordered by `agentId`. */
  named(
    tenantId: TenantId,
    query: { agentIds: readonly string[]; limit: number; withLabels: boolean },
  ): Promise<NamedAgent[]>;
  /** False, with nothing stored, if the workspace already has the agent. */
  insert(tenantId: TenantId, agent: Agent, cause: Cause): Promise<boolean>;
  /** Stores the agents that the workspace does not have yet. Their ids become their names. */
  register(tenantId: TenantId, agentIds: readonly string[], at: Date): Promise<void>;
  /** The changed agent; null if the workspace does not have it. Concurrent changes of different fields all apply. */
  update(tenantId: TenantId, agentId: string, change: AgentChange, cause: Cause): Promise<Agent | null>;
}
