import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditTarget } from '@tollkeeper/contracts';
import { type Clock, mintToken, provenTenantId, randomBase62, type TenantId } from '@tollkeeper/kernel';
import type { WaitingMails } from '@tollkeeper/mail';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import {
  type Confirmation,
  type ConfirmationOrder,
  GIVE_UP_MS,
  keyOf,
  LINK_MS,
  type NamedChannel,
  type Reader,
  type ReaderStore,
} from './reader.ts';

interface StoredReader {
  _id: string;
  tenantId: string;
  channelId: string;
  addressKey: string;
  answer: Reader['answer'];
  /** The order of a mail with a link: when it is due, and when it is given up. */
  dueAt?: Date;
  giveUpAt?: Date;
  attempts: number;
  isCounted: boolean;
  askedAt: Date | null;
  /** The link of the last mail. */
  sha256?: string;
  expiresAt?: Date;
}

const text = { type: String, required: true } as const;

const readerSchema = new Schema<StoredReader>(
  {
    _id: text,
    tenantId: text,
    channelId: text,
    addressKey: text,
    answer: text,
    dueAt: Date,
    giveUpAt: Date,
    attempts: { type: Number, required: true },
    isCounted: { type: Boolean, required: true },
    askedAt: { type: Date, default: null },
    sha256: String,
    expiresAt: Date,
  },
  { collection: 'channel_readers', versionKey: false },
);
readerSchema.index({ channelId: 1, addressKey: 1 }, { unique: true });
readerSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
readerSchema.index({ sha256: 1 }, { unique: true, partialFilterExpression: { sha256: { $exists: true } } });

/** Readers in the database of `connection`, and the queue of the mails that ask them. */
export interface MongoReaderStore extends ReaderStore, WaitingMails<ConfirmationOrder> {
  /**
   * Makes these addresses those of a channel, in the transaction that stores the channel, and orders a mail to each new
   * one. The answer of a reader who stopped is kept as long as the channel, so that nobody can ask again.
   */
  follow(session: ClientSession, tenantId: TenantId, channelId: string, addresses: readonly string[]): Promise<void>;
  /** Forgets all readers of a deleted channel. */
  forget(session: ClientSession, tenantId: TenantId, channelId: string): Promise<void>;
  /** Records that the limits have counted the order. */
  markCounted(readerId: string): Promise<void>;
  /** Makes the link of the next mail. Earlier links stop working. */
  issueLink(readerId: string): Promise<{ token: string; expiresAt: Date }>;
}

export interface ReaderStoreDeps {
  connection: Connection;
  trail: AuditTrail;
  clock: Clock;
}

export function createReaderStore(deps: ReaderStoreDeps): MongoReaderStore {
  const { connection, trail, clock } = deps;
  const readers = connection.model<StoredReader>('ChannelReader', readerSchema);
  const among = (tenantId: TenantId, channelId: string, addresses: readonly string[]) =>
    readers.find({ tenantId, channelId, addressKey: trusted({ $in: addresses.map(keyOf) }) }).lean();

  return {
    ...queueIn(readers, clock),

    async follow(session, tenantId, channelId, addresses) {
      const keys = addresses.map(keyOf);
      const removed = { addressKey: trusted({ $nin: keys }), answer: trusted({ $ne: 'stopped' as const }) };
      await readers.deleteMany({ tenantId, channelId, ...removed }, { session });
      const known = await readers.find({ tenantId, channelId }, { addressKey: 1 }, { session }).lean();
      const knownKeys = new Set(known.map(({ addressKey }) => addressKey));
      const added = keys.filter((key) => !knownKeys.has(key));
      const order = orderAt(clock());
      const made = added.map((addressKey) => ({ _id: randomBase62(20), tenantId, channelId, addressKey, ...order }));
      await readers.create(
        made.map((each) => ({ ...each, answer: 'none' as const, askedAt: null })),
        { session, ordered: true },
      );
    },

    async forget(session, tenantId, channelId) {
      await readers.deleteMany({ tenantId, channelId }, { session });
    },

    async confirmations(tenantId, channelId, addresses) {
      const stored = new Map((await among(tenantId, channelId, addresses)).map((each) => [each.addressKey, each]));
      return addresses.map((address): Confirmation => {
        const reader = stored.get(keyOf(address));
        if (reader === undefined) return { address, state: 'unsent', askedAt: null };
        return { address, state: stateOf(reader, clock()), askedAt: reader.askedAt };
      });
    },

    async confirmed(tenantId, channelId, addresses) {
      const ids = new Map(
        (await among(tenantId, channelId, addresses))
          .filter(({ answer }) => answer === 'confirmed')
          .map(({ _id, addressKey }) => [addressKey, _id]),
      );
      return addresses.flatMap((address) => {
        const id = ids.get(keyOf(address));
        return id === undefined ? [] : [{ id, address }];
      });
    },

    ask: (channel, address, cause) =>
      changeInTurn(connection, channel.tenantId, async (session) => {
        const who = { tenantId: channel.tenantId, channelId: channel.id, addressKey: keyOf(address) };
        const reader = await readers.findOne(who, { answer: 1, dueAt: 1 }, { session }).lean();
        // A waiting order stays as it is: to order again must not count it again.
        if (reader?.answer !== 'none' || reader.dueAt !== undefined) return reader?.answer ?? null;
        await readers.updateOne(who, { $set: orderAt(clock()) }, { session });
        const changes = [{ field: `address ${address}`, from: 'none', to: 'asked' }];
        await trail.record(session, channel.tenantId, cause, { target: targetOf(channel), changes });
        return reader.answer;
      }),

    async findAsked(sha256) {
      const found = await readers.findOne({ sha256, expiresAt: trusted({ $gt: new Date(clock()) }) }).lean();
      return found && toReader(found);
    },

    async find(readerId) {
      const found = await readers.findById(readerId).lean();
      return found && toReader(found);
    },

    answer: answersIn(readers, deps),

    async markCounted(readerId) {
      await readers.updateOne({ _id: readerId }, { $set: { isCounted: true } });
    },

    async issueLink(readerId) {
      const { token, sha256 } = mintToken('mailconfirm');
      const expiresAt = new Date(clock() + LINK_MS);
      await readers.updateOne({ _id: readerId, answer: 'none' }, { $set: { sha256, expiresAt } });
      return { token, expiresAt };
    },
  };
}

/** Stores the answers of readers. */
function answersIn(readers: Model<StoredReader>, { connection, trail, clock }: ReaderStoreDeps): ReaderStore['answer'] {
  return (reader, { answer, sha256, address, channel, cause }) =>
    changeInTurn(connection, reader.tenantId, async (session) => {
      const link = sha256 === null ? {} : { sha256, expiresAt: trusted({ $gt: new Date(clock()) }) };
      const before = await readers
        .findOneAndUpdate({ _id: reader.id, ...link }, { $set: { answer }, $unset: { ...ORDER, ...LINK } }, { session })
        .lean();
      if (before === null) return false;
      const field = `address ${address}`;
      const changes = before.answer === answer ? [] : [{ field, from: before.answer, to: answer }];
      if (changes.length > 0)
        await trail.record(session, reader.tenantId, cause, { target: targetOf(channel), changes });
      return true;
    });
}

/** Mails that ask readers, in the order in which they are due. */
function queueIn(readers: Model<StoredReader>, clock: Clock): WaitingMails<ConfirmationOrder> {
  const isWaiting = { dueAt: trusted({ $exists: true }) };

  return {
    async claim(now, until) {
      const claimed = await readers
        .findOneAndUpdate(
          { dueAt: trusted({ $lte: now }) },
          { $set: { dueAt: until }, $inc: { attempts: 1 } },
          { sort: { dueAt: 1 }, returnDocument: 'after' },
        )
        .lean();
      if (claimed === null) return null;
      const { _id: id, attempts, isCounted } = claimed;
      return { id, attempts, order: { reader: toReader(claimed), isCounted } };
    },

    async postpone(id, until) {
      await readers.updateOne({ _id: id, giveUpAt: trusted({ $lte: until }) }, { $unset: { ...ORDER, ...LINK } });
      await readers.updateOne({ _id: id, ...isWaiting }, { $set: { dueAt: until } });
    },

    async remove(id, because) {
      switch (because) {
        case 'sent':
          await readers.updateOne({ _id: id }, { $set: { askedAt: new Date(clock()) }, $unset: ORDER });
          break;
        case 'dropped':
          await readers.updateOne({ _id: id }, { $unset: ORDER });
          break;
        case 'rejected':
          await readers.updateOne({ _id: id }, { $unset: { ...ORDER, ...LINK } });
      }
    },

    async isEmpty() {
      return (await readers.exists(isWaiting)) === null;
    },
  };
}

const ORDER = { dueAt: 1, giveUpAt: 1 } as const;
const LINK = { sha256: 1, expiresAt: 1 } as const;

/** The fields of a new order. */
function orderAt(now: number) {
  return { dueAt: new Date(now), giveUpAt: new Date(now + GIVE_UP_MS), attempts: 0, isCounted: false };
}

function stateOf({ answer, dueAt, sha256, askedAt, expiresAt }: StoredReader, now: number): Confirmation['state'] {
  if (answer !== 'none') return answer;
  if (dueAt !== undefined) return 'queued';
  if (sha256 === undefined || askedAt === null || expiresAt === undefined) return 'unsent';
  return expiresAt.getTime() > now ? 'asked' : 'expired';
}

function targetOf({ id, name }: NamedChannel): AuditTarget {
  return { type: 'channel', id, name: name ?? '' };
}

function toReader({ _id: id, tenantId, channelId, addressKey, answer }: StoredReader): Reader {
  return { id, tenantId: provenTenantId(tenantId), channelId, addressKey, answer };
}
