import { identityRequests, identityService, toWireRole } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { AgentStore } from '../domain/agent.ts';
import type { AgentUseCases } from '../domain/agent.use-cases.ts';
import type { AuthUseCases } from '../domain/auth.use-cases.ts';
import type { WorkspaceUseCases } from '../domain/workspace.use-cases.ts';

/** Keeps an answer well below the 4 MiB of a gRPC message. */
const MAX_AGENTS = 10_000;

export interface IdentityHandlersDeps {
  auth: AuthUseCases;
  workspaces: WorkspaceUseCases;
  agents: AgentUseCases;
  agentStore: AgentStore;
}

/** The gRPC contract of identity.proto. */
export function createIdentityHandlers({ auth, workspaces, agents, agentStore }: IdentityHandlersDeps): GrpcService {
  return grpcService(identityService, identityRequests, {
    async resolveSession({ sessionSha256 }) {
      const resolved = await auth.resolveSession(sessionSha256.toString('hex'));
      if (resolved === null) return {};
      const memberships = resolved.workspaces.map(({ workspace: { id, slug }, role }) => ({
        tenantId: id,
        slug,
        role: toWireRole(role),
      }));
      const { userId, userName } = resolved;
      return { session: { userId, userName, memberships } };
    },

    async getWorkspace({ tenantId }) {
      const { id, slug, name, timezone, trackedLabels } = await workspaces.get(tenantId);
      return { workspace: { id, slug, name, timezone, trackedLabels: [...trackedLabels] } };
    },

    async getAgents({ tenantId, agentIds, withLabels }) {
      return { agents: await agentStore.named(tenantId, { agentIds, limit: MAX_AGENTS, withLabels }) };
    },

    async registerAgents({ tenantId, agentIds }) {
      await agents.register(tenantId, agentIds);
      return {};
    },
  });
}
