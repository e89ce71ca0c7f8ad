import { notifierService, type NotifierServiceDefinition } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, IDENTIFIER, provenTenantId } from '@tollkeeper/kernel';
import type { TestChannel } from '../domain/test-channel.ts';

/** The gRPC contract of notifier.proto. */
export function createNotifierHandlers(testChannel: TestChannel): GrpcService {
  const handlers: UnaryHandlers<NotifierServiceDefinition> = {
    sendTest({ tenantId, channelId }) {
      requireIdentifier('tenant_id', tenantId);
      requireIdentifier('channel_id', channelId);
      return testChannel(provenTenantId(tenantId), channelId);
    },
  };
  return grpcService(notifierService, handlers);
}

function requireIdentifier(field: string, value: string): void {
  if (!IDENTIFIER.test(value)) throw new AppError('invalid_request', `${field} must be an identifier.`);
}
