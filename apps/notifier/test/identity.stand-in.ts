import { identityRequests, identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

/** A stand-in for the part of identity that the notifier calls. */
export function createIdentityStandIn(logger: Logger) {
  const state = { down: false };
  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
    async getWorkspace({ tenantId }) {
      if (state.down) throw new AppError('internal', 'The identity service failed.');
      return { workspace: { id: tenantId, slug: 'demo', name: 'Demo', timezone: 'UTC' } };
    },
  };
  return Object.assign(createPeers(logger, [grpcService(identityService, identityRequests, identity)]), { state });
}
