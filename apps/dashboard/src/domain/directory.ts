import type { TenantId } from '@tollkeeper/kernel';

/** The facts that the dashboard reads from identity. They are at most 5 seconds old while identity answers. */
export interface Directory {
  /**
   * The workspace's time zone; UTC when the calendar does not know it. While identity does not answer, the last known
   * one; rejects when there is none.
   */
  timezone(tenantId: TenantId): Promise<string>;
  /** Names of these agents, at most 1000. An agent whose name is unknown gets its `agent_id`. */
  displayNames(tenantId: TenantId, agentIds: string[]): Promise<Map<string, string>>;
  /** Whether the workspace has the agent. */
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}
