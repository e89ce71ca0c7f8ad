import {
  budgetsRequests,
  budgetsService,
  type BudgetsServiceDefinition,
  type ChannelSummary,
  identityRequests,
  identityService,
  type IdentityServiceDefinition,
  notifierRequests,
  notifierService,
  type NotifierServiceDefinition,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { newId, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

/** Stand-ins for the parts of identity and the notifier that alerts calls. */
export function createPeersStandIn(logger: Logger) {
  const agents = new Map<string, string[]>();
  /** Daily budgets by workspace, in USD micros. */
  const limits = new Map<string, number>();
  const channels = new Map<string, ChannelSummary & { tenantId: string }>();

  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async ({ tenantId }) => ({
      workspace: { id: tenantId, timezone: 'Europe/Paris' },
    }),
    async getAgents({ tenantId, agentIds }) {
      const known = (agents.get(tenantId) ?? []).filter((id) => agentIds.length === 0 || agentIds.includes(id));
      return { agents: known.map((agentId) => ({ agentId, displayName: agentId })) };
    },
    registerAgents: async () => ({}),
  };
  const notifier: UnaryHandlers<NotifierServiceDefinition> = {
    async findChannels({ tenantId, channelIds }) {
      const own = [...channels.values()].filter((channel) => channel.tenantId === tenantId);
      return { channels: own.filter(({ id }) => channelIds.length === 0 || channelIds.includes(id)) };
    },
  };

  const budgets = {
    getBudgets: async () => ({}),
    listPrices: async () => ({}),
    requestRaise: async () => ({}),
    listGrantedRaises: async () => ({}),
    listBudgets: async ({ tenantId }: { tenantId: string }) => ({ dailyBudgetUsdMicros: limits.get(tenantId) }),
    listActiveBudgets: async () => ({ budgets: [] }),
  } satisfies UnaryHandlers<BudgetsServiceDefinition>;

  const services = [
    grpcService(budgetsService, budgetsRequests, budgets),
    grpcService(identityService, identityRequests, identity),
    grpcService(notifierService, notifierRequests, notifier),
  ];
  return Object.assign(createPeers(logger, services), {
    register: (tenantId: TenantId, ...agentIds: string[]) => void agents.set(tenantId, agentIds),
    channels,
    limits,
    /** Adds a new enabled webhook, with the given changes. */
    addChannel(tenantId: TenantId, fields: Partial<ChannelSummary>): ChannelSummary {
      const channel = { id: newId('chan'), type: 'webhook', enabled: true, revision: 1, ...fields };
      channels.set(channel.id, { tenantId, ...channel });
      return channel;
    },
  });
}
