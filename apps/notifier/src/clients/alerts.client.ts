import type { AlertsServiceDefinition, ChannelMessage } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { Channel, ChannelDirectory } from '../domain/channel.ts';

/** How long an answer may be kept (alerts.proto). */
const FRESH_MS = 1000;
const CACHED_CHANNELS = 1000;

/** Asks alerts for each call. */
export function createChannelDirectory(alerts: GrpcClient<AlertsServiceDefinition>): ChannelDirectory {
  return {
    async find(tenantId, channelId) {
      try {
        const { channel } = await alerts.getChannel({ tenantId, channelId });
        return channel ? toChannel(channel) : null;
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return null;
        throw error;
      }
    },
  };
}

type Key = { tenantId: TenantId; channelId: string };

/** Keeps each answer for a second. So many notifications to one channel cost one call a second. */
export function cachedChannels(directory: ChannelDirectory, clock: Clock): ChannelDirectory {
  const answers = new LRUCache<string, { channel: Channel | null }, Key>({
    max: CACHED_CHANNELS,
    ttl: FRESH_MS,
    perf: { now: clock },
    fetchMethod: async (_key, _stale, { context }) => ({
      channel: await directory.find(context.tenantId, context.channelId),
    }),
  });
  return {
    async find(tenantId, channelId) {
      const answer = await answers.fetch(`${tenantId}/${channelId}`, { context: { tenantId, channelId } });
      return answer?.channel ?? null;
    },
  };
}

function toChannel({ id, enabled, chat, webhook }: ChannelMessage): Channel {
  if (webhook) {
    return { id, type: 'webhook', enabled, url: webhook.url, signingSecret: webhook.signingSecret || null };
  }
  if (chat) return { id, type: 'chat', enabled, url: chat.webhookUrl, signingSecret: null };
  throw new AppError('internal', 'Alerts answered a channel without a destination that this version knows.');
}
