import { alertsRequests, alertsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { ChannelUseCases } from '../domain/channel.use-cases.ts';

/** The gRPC contract of alerts.proto. */
export function createAlertsHandlers(channels: Pick<ChannelUseCases, 'get'>): GrpcService {
  return grpcService(alertsService, alertsRequests, {
    async getChannel({ tenantId, channelId }) {
      const { id, name, enabled, destination } = await channels.get(tenantId, channelId);
      const common = { id, enabled, name: name ?? '' };
      switch (destination.type) {
        case 'chat':
          return { channel: { ...common, chat: { webhookUrl: destination.webhookUrl } } };
        case 'webhook': {
          const { url, signingSecret } = destination;
          return { channel: { ...common, webhook: { url, signingSecret: signingSecret ?? '' } } };
        }
      }
    },
  });
}
