import type { TenantId } from '@tollkeeper/kernel';

/** What the dashboard reads from identity. Facts are at most 5 seconds old while identity answers. */
export interface Directory {
  /**
   * The workspace's time zone, or UTC if the calendar does not know the zone. While identity does not answer, the last
   * known zone; rejects when there is none.
   */
  timezone(tenantId: TenantId): Promise<string>;
  /** The name of the workspace; its id while identity does not answer. */
  workspaceName(tenantId: TenantId): Promise<string>;
  /** Names of at most 1000 agents. An agent whose name is unknown gets its `agent_id`. */
  displayNames(tenantId: TenantId, agentIds: string[]): Promise<Map<string, string>>;
  /** Whether the workspace has the agent. */
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}
