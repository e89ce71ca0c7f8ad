import { type IdentityServiceDefinition, identityService, toWireRole } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, IDENTIFIER, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { AgentStore } from '../domain/agent.ts';
import type { AuthUseCases } from '../domain/auth.use-cases.ts';
import type { WorkspaceUseCases } from '../domain/workspace.use-cases.ts';

const SHA256_BYTES = 32;
const MAX_AGENT_IDS = 1000;
/** Keeps the answer well under the 4 MiB that a gRPC message may have. */
const MAX_AGENTS = 10_000;

export interface IdentityHandlersDeps {
  auth: AuthUseCases;
  workspaces: WorkspaceUseCases;
  agents: AgentStore;
}

/** The gRPC contract of identity.proto. */
export function createIdentityHandlers({ auth, workspaces, agents }: IdentityHandlersDeps): GrpcService {
  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    async resolveSession({ sessionSha256 }) {
      if (sessionSha256.length !== SHA256_BYTES) throw invalid('session_sha256', `must be ${SHA256_BYTES} bytes`);
      const resolved = await auth.resolveSession(sessionSha256.toString('hex'));
      if (resolved === null) return {};
      const memberships = resolved.workspaces.map(({ workspace: { id, slug }, role }) => ({
        tenantId: id,
        slug,
        role: toWireRole(role),
      }));
      return { session: { userId: resolved.userId, memberships } };
    },

    async getWorkspace({ tenantId }) {
      const { id, slug, name, timezone } = await workspaces.get(toTenantId(tenantId));
      return { workspace: { id, slug, name, timezone } };
    },

    async getAgents({ tenantId, agentIds }) {
      if (agentIds.length > MAX_AGENT_IDS) throw invalid('agent_ids', `must be at most ${MAX_AGENT_IDS}`);
      const tenant = toTenantId(tenantId);
      const found = agentIds.length === 0 ? agents.list(tenant, { limit: MAX_AGENTS }) : agents.find(tenant, agentIds);
      return { agents: (await found).map(({ agentId, displayName }) => ({ agentId, displayName })) };
    },
  };
  return grpcService(identityService, handlers);
}

/** Peers name a tenant that they have proven themselves. */
function toTenantId(text: string): TenantId {
  if (!IDENTIFIER.test(text)) throw invalid('tenant_id', 'must be the id of a workspace');
  return provenTenantId(text);
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `The request is not valid: ${path} ${message}.`, {
    details: [{ path, message }],
  });
}
