import { notifierRequests, notifierService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { TestChannel } from '../domain/test-channel.ts';

/** The gRPC contract of notifier.proto. */
export function createNotifierHandlers(testChannel: TestChannel): GrpcService {
  return grpcService(notifierService, notifierRequests, {
    sendTest: ({ tenantId, channelId }) => testChannel(tenantId, channelId),
  });
}
