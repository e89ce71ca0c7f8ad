import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { AgentDirectory } from '../domain/daily-budget.ts';

/** Reads the agents of a workspace from identity. */
export function createAgentDirectory(identity: GrpcClient<IdentityServiceDefinition>): AgentDirectory {
  return {
    list: async (tenantId) => (await identity.getAgents({ tenantId })).agents,
    find: async (tenantId, agentIds) => (await identity.getAgents({ tenantId, agentIds: [...agentIds] })).agents,
  };
}
