import {
  alertsRequests,
  alertsService,
  type AlertsServiceDefinition,
  identityRequests,
  identityService,
} from '@tollkeeper/contracts';
import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

export interface StandInChannel {
  tenantId: TenantId;
  id: string;
  type: 'chat' | 'webhook';
  enabled: boolean;
  url: string;
  signingSecret: string;
}

/** Alerts, from a table of channels, and the part of identity that the notifier asks. */
export function createAlertsStandIn(logger: Logger) {
  const channels = new Map<string, StandInChannel>();
  const state = { alertsDown: false, identityDown: false };

  const alerts: UnaryHandlers<AlertsServiceDefinition> = {
    async getChannel({ tenantId, channelId }) {
      if (state.alertsDown) throw new AppError('internal', 'The alerts service failed.');
      const channel = channels.get(channelId);
      if (channel?.tenantId !== tenantId) throw new AppError('not_found', 'There is no such channel.');
      const { id, type, enabled, url, signingSecret } = channel;
      const destination = type === 'chat' ? { chat: { webhookUrl: url } } : { webhook: { url, signingSecret } };
      return { channel: { id, enabled, name: '', ...destination } };
    },
  };
  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
    async getWorkspace({ tenantId }) {
      if (state.identityDown) throw new AppError('internal', 'The identity service failed.');
      return { workspace: { id: tenantId, slug: 'demo', name: 'Demo', timezone: 'UTC' } };
    },
  };

  const services = [
    grpcService(alertsService, alertsRequests, alerts),
    grpcService(identityService, identityRequests, identity),
  ];
  return Object.assign(createPeers(logger, services), {
    channels,
    state,
    /** A new enabled webhook channel unless `fields` say otherwise. */
    addChannel(tenantId: TenantId, url: string, fields: Partial<StandInChannel> = {}): StandInChannel {
      const channel: StandInChannel = {
        ...{ tenantId, url, id: newId('chan'), type: 'webhook', enabled: true, signingSecret: '' },
        ...fields,
      };
      channels.set(channel.id, channel);
      return channel;
    },
  });
}
