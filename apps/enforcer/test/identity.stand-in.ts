import { identityRequests, identityService, type IdentityServiceDefinition, type Labels } from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing/peers';

/** A stand-in for identity that answers from a table. Every workspace exists, by default in UTC. */
export function createIdentityStandIn(logger: Logger) {
  const timezones = new Map<string, string>();
  const agents = new Map<string, Set<string>>();
  const labels = new Map<string, Map<string, Labels>>();
  const registered: { tenantId: string; agentIds: string[] }[] = [];
  const state = { down: false, hold: undefined as Promise<void> | undefined };
  const unknown = new Set<string>();
  let inFlight = 0;
  let mostInFlight = 0;

  function failIfDown(): void {
    if (state.down) throw new AppError('internal', 'The identity service failed.');
  }

  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    async getWorkspace({ tenantId }) {
      failIfDown();
      if (unknown.has(tenantId)) throw new AppError('not_found', 'Unknown workspace');
      const timezone = timezones.get(tenantId) ?? 'UTC';
      return { workspace: { id: tenantId, slug: 'demo', name: 'Demo', timezone } };
    },
    async getAgents({ tenantId, agentIds }) {
      failIfDown();
      const ofAgents = labels.get(tenantId) ?? new Map<string, Labels>();
      const known = agentIds.filter((agentId) => ofAgents.has(agentId));
      return {
        agents: known.map((agentId) => ({ agentId, displayName: agentId, labels: { ...ofAgents.get(agentId) } })),
      };
    },
    async registerAgents({ tenantId, agentIds }) {
      registered.push({ tenantId, agentIds });
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      try {
        failIfDown();
        await state.hold;
      } finally {
        inFlight -= 1;
      }
      agents.set(tenantId, new Set([...(agents.get(tenantId) ?? []), ...agentIds]));
      return {};
    },
  };

  return Object.assign(createPeers(logger, [grpcService(identityService, identityRequests, handlers)]), {
    /** With `down`, every RPC fails; RegisterAgents answers only after `hold`. */
    state,
    /** The received RegisterAgents requests including failed ones, oldest first. */
    registered,
    /** The maximum number of concurrent RegisterAgents requests. */
    mostInFlight: () => mostInFlight,
    /** The agents of the workspace, by id. */
    agentsOf: (tenantId: TenantId) => [...(agents.get(tenantId) ?? [])].sort(),
    /** As after a restore of identity from a time before the workspace existed. */
    forget: (tenantId: TenantId) => unknown.add(tenantId),
    setLabels: (tenantId: TenantId, agentId: string, set: Labels) =>
      labels.set(tenantId, new Map([...(labels.get(tenantId) ?? []), [agentId, set]])),
    setTimezone: (tenantId: TenantId, timezone: string) => timezones.set(tenantId, timezone),
  });
}
