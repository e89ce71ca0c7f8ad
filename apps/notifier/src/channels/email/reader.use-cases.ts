import { type Cause, systemCause } from '@tollkeeper/contracts';
import { AppError, digestOf, type TenantId } from '@tollkeeper/kernel';
import type { Channel, ChannelStore } from '../channel.ts';
import { readersOf } from '../channel.kinds.ts';
import { keyOf, type Reader, type ReaderAnswer, type ReaderStore } from './reader.ts';
import type { StopTokens } from './stop.tokens.ts';

/** What the link of a mail is for. */
export interface MailLink {
  purpose: 'confirm' | 'stop';
  address: string;
  /** Null in a mail to somebody who has not confirmed: the name is text of other people. */
  channelName: string | null;
  slug: string | null;
  answer: Reader['answer'];
}

type RequestCause = Omit<Cause, 'actor'>;

/** What people can do who read the mail of a channel. A link proves them; nobody has to log in. */
export interface ReaderUseCases {
  /** Rejects with `not_found` for a link that is not valid, was used, or has expired. */
  find(token: string): Promise<MailLink>;
  /** Uses up the link that confirms an address. With the link of an alert mail, alerts come again after a stop. */
  confirm(token: string, cause: RequestCause): Promise<MailLink>;
  /** No more mail from this channel to this address. */
  stop(token: string, cause: RequestCause): Promise<MailLink>;
}

export interface ReaderUseCaseDeps {
  readers: ReaderStore;
  channels: Pick<ChannelStore, 'find'>;
  stopTokens: StopTokens;
  slugOf: (tenantId: TenantId) => Promise<string | undefined>;
}

interface Proof {
  purpose: MailLink['purpose'];
  reader: Reader;
  channel: Channel;
  address: string;
  /** Of a link that works once. */
  sha256: string | null;
}

export function createReaderUseCases({ readers, channels, stopTokens, slugOf }: ReaderUseCaseDeps): ReaderUseCases {
  async function prove(token: string): Promise<Proof> {
    const readerId = stopTokens.readerOf(token);
    const sha256 = readerId === null ? digestOf(token) : null;
    const reader = readerId === null ? await readers.findAsked(digestOf(token)) : await readers.find(readerId);
    const channel = reader && (await channels.find(reader.tenantId, reader.channelId));
    const address = channel && readersOf(channel.destination).find((each) => keyOf(each) === reader.addressKey);
    if (!reader || !channel || !address) throw noSuchLink();
    return { purpose: readerId === null ? 'confirm' : 'stop', reader, channel, address, sha256 };
  }

  async function toLink({ purpose, reader, channel, address }: Proof): Promise<MailLink> {
    const slug = (await slugOf(reader.tenantId)) ?? null;
    return { purpose, address, channelName: purpose === 'stop' ? channel.name : null, slug, answer: reader.answer };
  }

  async function answer(token: string, given: ReaderAnswer['answer'], request: RequestCause): Promise<MailLink> {
    const proof = await prove(token);
    const { reader, channel, address, sha256 } = proof;
    const cause = { ...systemCause(request.action, 'mail'), ...request };
    if (!(await readers.answer(reader, { answer: given, sha256, address, channel, cause }))) throw noSuchLink();
    return toLink({ ...proof, reader: { ...reader, answer: given } });
  }

  return {
    find: async (token) => toLink(await prove(token)),
    confirm: (token, cause) => answer(token, 'confirmed', cause),
    stop: (token, cause) => answer(token, 'stopped', cause),
  };
}

function noSuchLink(): AppError {
  return new AppError(
    'not_found',
    'This link was used, has expired or is not valid. Ask an admin of the workspace to send another mail, or use the ' +
      'link of a newer mail.',
  );
}
