import type { TenantId } from '@tollkeeper/kernel';

/** What the dashboard asks identity for. Answers are at most 5 seconds old while identity answers. */
export interface Directory {
  /**
   * The workspace's time zone, UTC where the calendar can't work with it. The last one known counts while identity
   * can't be reached; without one it rejects.
   */
  timezone(tenantId: TenantId): Promise<string>;
  /** Names of the agents asked for, which are at most 1000; the `agent_id` stands in where no name can be had. */
  displayNames(tenantId: TenantId, agentIds: string[]): Promise<Map<string, string>>;
  /** Whether the workspace has the agent. */
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}
