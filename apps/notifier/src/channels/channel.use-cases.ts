import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { type Channel, type ChannelDraft, type ChannelStore, MAX_CHANNELS } from './channel.ts';
import type { SendTest, TestResult } from './test.sender.ts';

/** What people can do with channels. Every method rejects with `not_found` for a channel of another workspace. */
export interface ChannelUseCases {
  list(tenantId: TenantId): Promise<Channel[]>;
  get(tenantId: TenantId, channelId: string): Promise<Channel>;
  /** Rejects with `conflict` if the workspace has {@link MAX_CHANNELS} channels. */
  create(tenantId: TenantId, draft: ChannelDraft, cause: Cause): Promise<Channel>;
  /** `edit` makes the new channel from the current one, and may run again on a newer one. */
  edit(
    tenantId: TenantId,
    channelId: string,
    edit: (current: ChannelDraft) => ChannelDraft,
    cause: Cause,
  ): Promise<Channel>;
  /** Nothing more is sent to it, and within 2 s it is removed from all rules. */
  delete(tenantId: TenantId, channelId: string, cause: Cause): Promise<void>;
  /** Sends a test notification now, even if the channel is disabled. Rejects like {@link SendTest}. */
  test(tenantId: TenantId, channelId: string, cause: Cause): Promise<TestResult>;
}

export interface ChannelUseCaseDeps {
  store: ChannelStore;
  sendTest: SendTest;
  clock: Clock;
}

export function createChannelUseCases({ store, sendTest, clock }: ChannelUseCaseDeps): ChannelUseCases {
  async function get(tenantId: TenantId, channelId: string): Promise<Channel> {
    const channel = await store.find(tenantId, channelId);
    if (channel === null) throw noSuchChannel();
    return channel;
  }

  return {
    list: (tenantId) => store.list(tenantId),
    get,

    async create(tenantId, draft, cause) {
      const now = new Date(clock());
      const channel = { ...draft, id: newId('chan'), tenantId, createdAt: now, updatedAt: now, revision: 1 };
      if (!(await store.insert(channel, cause))) {
        throw new AppError('conflict', `The workspace has ${MAX_CHANNELS} channels. Delete one that is not needed.`);
      }
      return channel;
    },

    async edit(tenantId, channelId, edit, cause) {
      const decide = (current: Channel): Channel => ({
        ...current,
        ...edit(current),
        updatedAt: new Date(clock()),
        revision: current.revision + 1,
      });
      const edited = await store.update(tenantId, channelId, decide, cause);
      if (edited === null) throw noSuchChannel();
      return edited;
    },

    async delete(tenantId, channelId, cause) {
      if (!(await store.delete(tenantId, channelId, cause))) throw noSuchChannel();
    },

    async test(tenantId, channelId, cause) {
      await store.recordTest(await get(tenantId, channelId), cause);
      return sendTest(tenantId, () => get(tenantId, channelId));
    },
  };
}

function noSuchChannel(): AppError {
  return new AppError('not_found', 'This workspace has no channel with that channel_id.');
}
