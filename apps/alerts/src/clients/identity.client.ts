import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { AgentDirectory } from '../domain/rule.use-cases.ts';

/** Asks identity for the current agents of a workspace. */
export function createAgentDirectory(identity: GrpcClient<IdentityServiceDefinition>): AgentDirectory {
  return {
    has: async (tenantId, agentId) => (await identity.getAgents({ tenantId, agentIds: [agentId] })).agents.length > 0,
  };
}
