import { alertsService, type AlertsServiceDefinition, identityService } from '@tollkeeper/contracts';
import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcServer, type GrpcServer, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** What the service and its peers share. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

export interface StandInChannel {
  tenantId: TenantId;
  id: string;
  type: 'chat' | 'webhook';
  enabled: boolean;
  url: string;
  signingSecret: string;
}

/**
 * Serves the contracts of alerts.proto and identity.proto over real gRPC, from a table of channels. A service may not
 * import another one; e2e runs this service with the real ones.
 */
export function createAlertsStandIn(logger: Logger) {
  const channels = new Map<string, StandInChannel>();
  const state = { alertsDown: false, identityDown: false };
  let server: GrpcServer | undefined;

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
    async getWorkspace({ tenantId }) {
      if (state.identityDown) throw new AppError('internal', 'The identity service failed.');
      return { workspace: { id: tenantId, slug: 'demo', name: 'Demo', timezone: 'UTC' } };
    },
  };

  return {
    channels,
    state,
    get address() {
      return server?.address ?? '';
    },
    async start() {
      const services = [grpcService(alertsService, alerts), grpcService(identityService, identity)];
      server = createGrpcServer({
        host: '127.0.0.1',
        port: 0,
        services,
        callerTokenSecret: CALLER_TOKEN_SECRET,
        logger,
        metrics: createMetrics('alerts'),
      });
      await server.start();
    },
    stop: async () => server?.stop(),
    /** A new enabled webhook channel unless `fields` say otherwise. */
    addChannel(tenantId: TenantId, url: string, fields: Partial<StandInChannel> = {}): StandInChannel {
      const channel: StandInChannel = {
        ...{ tenantId, url, id: newId('chan'), type: 'webhook', enabled: true, signingSecret: '' },
        ...fields,
      };
      channels.set(channel.id, channel);
      return channel;
    },
  };
}
