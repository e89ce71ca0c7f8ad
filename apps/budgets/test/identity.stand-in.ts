import { identityRequests, identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

/** A stand-in for the part of identity that budgets calls, with a table of agents. */
export function createIdentityStandIn(logger: Logger) {
  const agents = new Map<string, { agentId: string; displayName: string }[]>();

  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({}),
    async getAgents({ tenantId, agentIds }) {
      const known = agents.get(tenantId) ?? [];
      return { agents: agentIds.length === 0 ? known : known.filter(({ agentId }) => agentIds.includes(agentId)) };
    },
    registerAgents: async () => ({}),
  };

  return Object.assign(createPeers(logger, [grpcService(identityService, identityRequests, handlers)]), {
    /** Gives the workspace these agents; their names are their ids in capitals. */
    register(tenantId: TenantId, ...agentIds: string[]) {
      const named = agentIds.map((agentId) => ({ agentId, displayName: agentId.toUpperCase() }));
      agents.set(tenantId, named);
    },
  });
}
