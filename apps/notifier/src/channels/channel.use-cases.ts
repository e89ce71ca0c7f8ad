import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { type Channel, type ChannelDraft, type ChannelStore, type ConfirmedChannel, MAX_CHANNELS } from './channel.ts';
import { readersOf } from './channel.kinds.ts';
import { keyOf, type Reader, type ReaderStore } from './email/reader.ts';
import type { SendTest, TestResult } from './test.sender.ts';

/** What people can do with channels. Every method rejects with `not_found` for a channel of another workspace. */
export interface ChannelUseCases {
  list(tenantId: TenantId): Promise<ConfirmedChannel[]>;
  get(tenantId: TenantId, channelId: string): Promise<ConfirmedChannel>;
  /** Rejects with `conflict` if the workspace has {@link MAX_CHANNELS} channels. */
  create(tenantId: TenantId, draft: ChannelDraft, cause: Cause): Promise<ConfirmedChannel>;
  /** `edit` makes the new channel from the current one, and may run again on a newer one. */
  edit(
    tenantId: TenantId,
    channelId: string,
    edit: (current: ChannelDraft) => ChannelDraft,
    cause: Cause,
  ): Promise<ConfirmedChannel>;
  /**
   * Sends another mail with a link to an address of the channel. Rejects with `conflict` if its reader has confirmed or
   * wants no mail.
   */
  ask(tenantId: TenantId, channelId: string, address: string, cause: Cause): Promise<ConfirmedChannel>;
  /** Nothing more is sent to it, and within 2 s it is removed from all rules. */
  delete(tenantId: TenantId, channelId: string, cause: Cause): Promise<void>;
  /** Sends a test notification now, even if the channel is disabled. Rejects like {@link SendTest}. */
  test(tenantId: TenantId, channelId: string, cause: Cause): Promise<TestResult>;
}

export interface ChannelUseCaseDeps {
  store: ChannelStore;
  readers: ReaderStore;
  /** Whether there is a mail server. */
  sendsMail: boolean;
  sendTest: SendTest;
  clock: Clock;
}

export function createChannelUseCases(deps: ChannelUseCaseDeps): ChannelUseCases {
  const { store, readers, sendTest, clock } = deps;
  async function find(tenantId: TenantId, channelId: string): Promise<Channel> {
    const channel = await store.find(tenantId, channelId);
    if (channel === null) throw noSuchChannel();
    return channel;
  }

  async function confirmed(channel: Channel): Promise<ConfirmedChannel> {
    const addresses = readersOf(channel.destination);
    const { tenantId, id } = channel;
    return {
      ...channel,
      confirmations: addresses.length === 0 ? [] : await readers.confirmations(tenantId, id, addresses),
    };
  }

  return {
    list: async (tenantId) => Promise.all((await store.list(tenantId)).map(confirmed)),
    get: async (tenantId, channelId) => confirmed(await find(tenantId, channelId)),

    async create(tenantId, draft, cause) {
      requireMailServer(deps, draft);
      const now = new Date(clock());
      const channel = { ...draft, id: newId('chan'), tenantId, createdAt: now, updatedAt: now, revision: 1 };
      if (!(await store.insert(channel, cause))) {
        throw new AppError('conflict', `The workspace has ${MAX_CHANNELS} channels. Delete one that is not needed.`);
      }
      return confirmed(channel);
    },

    async edit(tenantId, channelId, edit, cause) {
      const decide = (current: Channel): Channel => {
        const draft = edit(current);
        if (draft.enabled) requireMailServer(deps, draft);
        return { ...current, ...draft, updatedAt: new Date(clock()), revision: current.revision + 1 };
      };
      const edited = await store.update(tenantId, channelId, decide, cause);
      if (edited === null) throw noSuchChannel();
      return confirmed(edited);
    },

    async delete(tenantId, channelId, cause) {
      if (!(await store.delete(tenantId, channelId, cause))) throw noSuchChannel();
    },

    async ask(tenantId, channelId, address, cause) {
      const channel = await find(tenantId, channelId);
      requireMailServer(deps, channel);
      const known = readersOf(channel.destination).some((each) => keyOf(each) === keyOf(address));
      const answer = known ? await readers.ask(channel, address, cause) : null;
      if (answer === null) throw noSuchAddress();
      if (answer !== 'none') throw new AppError('conflict', ANSWERED[answer]);
      return confirmed(channel);
    },

    async test(tenantId, channelId, cause) {
      await store.recordTest(await find(tenantId, channelId), cause);
      return sendTest(tenantId, () => find(tenantId, channelId));
    },
  };
}

const ANSWERED: Record<Exclude<Reader['answer'], 'none'>, string> = {
  confirmed: 'The reader of this address has already confirmed it.',
  stopped:
    'The reader of this address wants no mail from this channel. Only the reader can change that, with the link in an alert mail.',
};

function requireMailServer(
  { sendsMail }: ChannelUseCaseDeps,
  { destination }: Pick<ChannelDraft, 'destination'>,
): void {
  if (sendsMail || readersOf(destination).length === 0) return;
  const message = 'needs a mail server: set SMTP_URL and MAIL_FROM of the notifier (docs/deployment.md)';
  throw new AppError('invalid_request', `A channel of the type ${destination.type} ${message}.`, {
    details: [{ path: 'channel_type', message }],
  });
}

function noSuchChannel(): AppError {
  return new AppError('not_found', 'This workspace has no channel with that channel_id.');
}

function noSuchAddress(): AppError {
  return new AppError('not_found', 'This channel does not send to that address. Add it to config.addresses.');
}
