import type { NotifierServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { ChannelDirectory } from '../domain/rule.use-cases.ts';

/** Generous, because a person waits for the answer and would have to enter a refused rule again. */
const DEADLINE_MS = 5000;

/** Asks the notifier for the current channels of a workspace. */
export function createChannelDirectory(notifier: GrpcClient<NotifierServiceDefinition>): ChannelDirectory & {
  count: (tenantId: string) => Promise<number>;
} {
  const ask = async (tenantId: string, channelIds: readonly string[]) =>
    (await notifier.findChannels({ tenantId, channelIds: [...channelIds] }, { deadlineMs: DEADLINE_MS })).channels;
  return {
    find: async (tenantId, channelIds) => (channelIds.length === 0 ? [] : ask(tenantId, channelIds)),
    // Without ids, the notifier returns all channels.
    count: async (tenantId) => (await ask(tenantId, [])).length,
  };
}
