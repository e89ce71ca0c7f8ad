import { alertsService, type AlertsServiceDefinition } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, IDENTIFIER, provenTenantId } from '@tollkeeper/kernel';
import type { ChannelUseCases } from '../domain/channel.use-cases.ts';

/** The gRPC contract of alerts.proto. */
export function createAlertsHandlers(channels: Pick<ChannelUseCases, 'get'>): GrpcService {
  const handlers: UnaryHandlers<AlertsServiceDefinition> = {
    async getChannel({ tenantId, channelId }) {
      if (!IDENTIFIER.test(tenantId)) throw new AppError('invalid_request', 'tenant_id must be an identifier.');
      if (!IDENTIFIER.test(channelId)) throw new AppError('invalid_request', 'channel_id must be an identifier.');
      // Only services reach this port, and what they ask for comes from a notification that alerts itself wrote.
      const { id, name, enabled, destination } = await channels.get(provenTenantId(tenantId), channelId);
      const common = { id, enabled, name: name ?? '' };
      if (destination.type === 'chat') return { channel: { ...common, chat: { webhookUrl: destination.webhookUrl } } };
      const { url, signingSecret } = destination;
      return { channel: { ...common, webhook: { url, signingSecret: signingSecret ?? '' } } };
    },
  };
  return grpcService(alertsService, handlers);
}
