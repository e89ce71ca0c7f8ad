import { notifierRequests, notifierService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { ChannelStore } from '../channels/channel.ts';

/** The handlers of notifier.proto. */
export function createNotifierHandlers(channels: Pick<ChannelStore, 'summaries'>): GrpcService {
  return grpcService(notifierService, notifierRequests, {
    findChannels: async ({ tenantId, channelIds }) => ({ channels: await channels.summaries(tenantId, channelIds) }),
  });
}
