import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { AgentDirectory } from '../domain/rule.use-cases.ts';

/** The agents of a workspace as identity has them at this moment. */
export function createAgentDirectory(identity: GrpcClient<IdentityServiceDefinition>): AgentDirectory {
  return {
    has: async (tenantId, agentId) => (await identity.getAgents({ tenantId, agentIds: [agentId] })).agents.length > 0,
  };
}
