import { identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcServer, type GrpcServer, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** What the service and its peers share. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

/**
 * Serves the part of identity.proto that budgets asks, over real gRPC, from a table. A service may not import another
 * one; e2e runs this service with the real identity.
 */
export function createIdentityStandIn(logger: Logger) {
  const agents = new Map<string, { agentId: string; displayName: string }[]>();
  let server: GrpcServer | undefined;
  let port = 0;

  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({}),
    async getAgents({ tenantId, agentIds }) {
      const known = agents.get(tenantId) ?? [];
      return { agents: agentIds.length === 0 ? known : known.filter(({ agentId }) => agentIds.includes(agentId)) };
    },
  };

  return {
    get address() {
      return `127.0.0.1:${port}`;
    },
    /** Starts where it was before, if it was. */
    async start() {
      const services = [grpcService(identityService, handlers)];
      server = createGrpcServer({
        host: '127.0.0.1',
        port,
        services,
        callerTokenSecret: CALLER_TOKEN_SECRET,
        logger,
        metrics: createMetrics('identity'),
      });
      await server.start();
      port = Number(server.address.split(':')[1]);
    },
    async stop() {
      await server?.stop();
    },
    /** Gives the workspace these agents, whose names are their ids in capitals. */
    register(tenantId: TenantId, ...agentIds: string[]) {
      const named = agentIds.map((agentId) => ({ agentId, displayName: agentId.toUpperCase() }));
      agents.set(tenantId, named);
    },
  };
}
