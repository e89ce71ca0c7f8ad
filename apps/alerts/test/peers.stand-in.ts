import {
  identityService,
  type IdentityServiceDefinition,
  notifierService,
  type NotifierServiceDefinition,
} from '@tollkeeper/contracts';
import { createGrpcServer, type GrpcServer, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { AppError, TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** What the service and its peers share. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

/**
 * Serves the parts of identity.proto and notifier.proto that alerts asks, over real gRPC. A service may not import another
 * one; e2e runs this service with the real ones.
 */
export function createPeers(logger: Logger) {
  const agents = new Map<string, string[]>();
  const tested: { tenantId: string; channelId: string }[] = [];
  let failure: AppError | undefined;
  let server: GrpcServer | undefined;

  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({}),
    async getAgents({ tenantId, agentIds }) {
      const known = (agents.get(tenantId) ?? []).filter((id) => agentIds.length === 0 || agentIds.includes(id));
      return { agents: known.map((agentId) => ({ agentId, displayName: agentId })) };
    },
  };
  const notifier: UnaryHandlers<NotifierServiceDefinition> = {
    async sendTest(request) {
      tested.push(request);
      if (failure !== undefined) throw failure;
      return { responseStatus: 204, responseSnippet: '' };
    },
  };

  return {
    tested,
    get address() {
      return server?.address ?? '';
    },
    async start() {
      const services = [grpcService(identityService, identity), grpcService(notifierService, notifier)];
      server = createGrpcServer({
        host: '127.0.0.1',
        port: 0,
        services,
        callerTokenSecret: CALLER_TOKEN_SECRET,
        logger,
        metrics: createMetrics('peers'),
      });
      await server.start();
    },
    async stop() {
      await server?.stop();
    },
    register: (tenantId: TenantId, ...agentIds: string[]) => void agents.set(tenantId, agentIds),
    failTests: (error: AppError | undefined) => void (failure = error),
  };
}
