import type { NotifierServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { TestSender } from '../domain/channel.use-cases.ts';

/** The notifier gives a destination 15 s. */
const DEADLINE_MS = 20_000;

export function createTestSender(notifier: GrpcClient<NotifierServiceDefinition>): TestSender {
  return {
    sendTest: (tenantId, channelId) => notifier.sendTest({ tenantId, channelId }, { deadlineMs: DEADLINE_MS }),
  };
}
