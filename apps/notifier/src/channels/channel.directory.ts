import type { ChannelDirectory } from '../domain/channel.ts';
import type { ChannelStore } from './channel.ts';
import { CHANNEL_KINDS, requestTo } from './channel.kinds.ts';

/** The channels for delivery attempts. Each call reads the channel again, so changes and deletions apply at once. */
export function createChannelDirectory(store: Pick<ChannelStore, 'find'>): ChannelDirectory {
  return {
    async find(tenantId, channelId) {
      const channel = await store.find(tenantId, channelId);
      if (channel === null) return null;
      const { enabled, revision, destination } = channel;
      const { type } = destination;
      const { retryPausesMs } = CHANNEL_KINDS[type];
      return {
        type,
        enabled,
        revision,
        retryPausesMs,
        request: (message, now) => requestTo(channel, message, now),
      };
    },
  };
}
