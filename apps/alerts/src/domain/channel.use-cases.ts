import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { type Channel, type ChannelDraft, type ChannelStore, MAX_CHANNELS } from './channel.ts';

/** What a destination answered. */
interface TestResult {
  responseStatus: number;
  /** At most 1 KiB of text. */
  responseSnippet: string;
}

/** Sends `channel.test` notifications. */
export interface TestSender {
  /**
   * Rejects with `destination_unreachable`, `destination_blocked` or `not_found`, and `service_unavailable` when
   * nothing could be tried. It may take 15 s.
   */
  sendTest(tenantId: TenantId, channelId: string): Promise<TestResult>;
}

/**
 * What can be done with channels. Every method rejects with `not_found` for a channel of
 * another workspace.
 */
export interface ChannelUseCases {
  list(tenantId: TenantId): Promise<Channel[]>;
  get(tenantId: TenantId, channelId: string): Promise<Channel>;
  /** Rejects with `conflict` with {@link MAX_CHANNELS} channels. */
  create(tenantId: TenantId, draft: ChannelDraft, cause: Cause): Promise<Channel>;
  /** `edit` makes the new channel of the present one and may be run again on a newer one. */
  edit(
    tenantId: TenantId,
    channelId: string,
    edit: (current: ChannelDraft) => ChannelDraft,
    cause: Cause,
  ): Promise<Channel>;
  /** Takes the channel out of the rules that named it. */
  delete(tenantId: TenantId, channelId: string, cause: Cause): Promise<void>;
  /** Sends a test notification now, also to a disabled channel. Rejects as {@link TestSender} does. */
  test(tenantId: TenantId, channelId: string, cause: Cause): Promise<TestResult>;
}

export interface ChannelUseCaseDeps {
  store: ChannelStore;
  sender: TestSender;
  clock: Clock;
}

export function createChannelUseCases({ store, sender, clock }: ChannelUseCaseDeps): ChannelUseCases {
  async function get(tenantId: TenantId, channelId: string): Promise<Channel> {
    const channel = await store.find(tenantId, channelId);
    if (channel === null) throw noSuchChannel();
    return channel;
  }

  return {
    list: (tenantId) => store.list(tenantId),
    get,

    async create(tenantId, draft, cause) {
      if ((await store.count(tenantId)) >= MAX_CHANNELS) {
        throw new AppError('conflict', `The workspace has ${MAX_CHANNELS} channels. Delete one that is not needed.`);
      }
      const now = new Date(clock());
      const channel = { ...draft, id: newId('chan'), tenantId, createdAt: now, updatedAt: now };
      await store.insert(channel, cause);
      return channel;
    },

    async edit(tenantId, channelId, edit, cause) {
      const decide = (current: Channel): Channel => ({ ...current, ...edit(current), updatedAt: new Date(clock()) });
      const edited = await store.update(tenantId, channelId, decide, cause);
      if (edited === null) throw noSuchChannel();
      return edited;
    },

    async delete(tenantId, channelId, cause) {
      if (!(await store.delete(tenantId, channelId, cause))) throw noSuchChannel();
    },

    async test(tenantId, channelId, cause) {
      await store.recordTest(await get(tenantId, channelId), cause);
      return sender.sendTest(tenantId, channelId);
    },
  };
}

function noSuchChannel(): AppError {
  return new AppError('not_found', 'This workspace has no channel with that channel_id.');
}
