import {
  identityRequests,
  identityService,
  type IdentityServiceDefinition,
  notifierRequests,
  notifierService,
  type NotifierServiceDefinition,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { AppError, TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

/** The parts of identity and the notifier that alerts asks. */
export function createPeersStandIn(logger: Logger) {
  const agents = new Map<string, string[]>();
  const tested: { tenantId: string; channelId: string }[] = [];
  let failure: AppError | undefined;

  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({}),
    async getAgents({ tenantId, agentIds }) {
      const known = (agents.get(tenantId) ?? []).filter((id) => agentIds.length === 0 || agentIds.includes(id));
      return { agents: known.map((agentId) => ({ agentId, displayName: agentId })) };
    },
    registerAgents: async () => ({}),
  };
  const notifier: UnaryHandlers<NotifierServiceDefinition> = {
    async sendTest(request) {
      tested.push(request);
      if (failure !== undefined) throw failure;
      return { responseStatus: 204, responseSnippet: '' };
    },
  };

  const services = [
    grpcService(identityService, identityRequests, identity),
    grpcService(notifierService, notifierRequests, notifier),
  ];
  return Object.assign(createPeers(logger, services), {
    tested,
    register: (tenantId: TenantId, ...agentIds: string[]) => void agents.set(tenantId, agentIds),
    failTests: (error: AppError | undefined) => void (failure = error),
  });
}
