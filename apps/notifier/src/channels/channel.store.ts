import type { AuditTrail } from '@tollkeeper/audit-trail';
import {
  type Cause,
  CHANNEL_TYPES,
  type ChannelRecord,
  type ChannelType,
  encodeChannelRecord,
  systemCause,
} from '@tollkeeper/contracts';
import type { Outbox } from '@tollkeeper/event-log';
import { type Clock, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, toBuffer } from '@tollkeeper/mongo';
import { activeTrace } from '@tollkeeper/runtime';
import type { SecretCipher } from '@tollkeeper/service';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import { AUDITED_CHANNEL, type Channel, type ChannelStore, channelTarget, MAX_CHANNELS } from './channel.ts';
import { type Destination, readersOf } from './channel.kinds.ts';
import type { MongoReaderStore } from './email/reader.store.ts';

interface StoredChannel {
  _id: string;
  tenantId: string;
  name: string | null;
  enabled: boolean;
  type: ChannelType;
  /** The `config` of the destination as encrypted JSON. */
  keyId: string;
  iv: Buffer;
  data: Buffer;
  createdAt: Date;
  updatedAt: Date;
  revision: number;
}

const text = { type: String, required: true } as const;
const bytes = { type: Buffer, required: true } as const;
const date = { type: Date, required: true } as const;

const channelSchema = new Schema<StoredChannel>(
  {
    _id: text,
    tenantId: text,
    name: { type: String, default: null },
    enabled: { type: Boolean, required: true },
    type: { ...text, enum: CHANNEL_TYPES },
    keyId: text,
    iv: bytes,
    data: bytes,
    createdAt: date,
    updatedAt: date,
    revision: { type: Number, required: true },
  },
  { collection: 'channels', versionKey: false },
);
channelSchema.index({ tenantId: 1, createdAt: 1 });
channelSchema.index({ keyId: 1 });

/** Channels in the database of `connection`. Make it before the connection starts. */
export interface MongoChannelStore extends ChannelStore {
  /**
   * Disables the channel in the transaction that stores the reason, unless it was changed since `revision` and may have
   * another destination. Returns whether it did.
   */
  disable(session: ClientSession, tenantId: TenantId, channelId: string, revision: number): Promise<boolean>;
  /** Rejects, with the remedy, if a channel is encrypted with a key that is not configured. */
  requireKeys(): Promise<void>;
}

export interface ChannelStoreDeps {
  connection: Connection;
  cipher: SecretCipher;
  trail: AuditTrail;
  readers: Pick<MongoReaderStore, 'follow' | 'forget'>;
  /** The outbox of `alerts.deliveries`. */
  outbox: Pick<Outbox, 'add' | 'wake'>;
  clock: Clock;
}

export function createChannelStore(deps: ChannelStoreDeps): MongoChannelStore {
  const { connection, cipher, trail, readers, outbox, clock } = deps;
  const channels = connection.model<StoredChannel>('Channel', channelSchema);

  const { toChannel, fromChannel } = sealedWith(cipher);
  const { report, reportChange } = reportsTo(outbox);

  return {
    async list(tenantId) {
      return (await channels.find({ tenantId }).sort({ createdAt: 1, _id: 1 }).lean()).map(toChannel);
    },

    async find(tenantId, channelId) {
      const stored = await channels.findOne({ _id: channelId, tenantId }).lean();
      return stored === null ? null : toChannel(stored);
    },

    async summaries(tenantId, channelIds) {
      const filter = channelIds.length === 0 ? {} : { _id: trusted({ $in: [...channelIds] }) };
      // Majority: callers store the answer, and a fail-over must not roll back what it was based on.
      const found = channels
        .find({ tenantId, ...filter }, { type: 1, enabled: 1, revision: 1 })
        .readConcern('majority');
      return (await found.lean()).map(({ _id: id, type, enabled, revision }) => ({ id, type, enabled, revision }));
    },

    insert: (channel, cause) =>
      changeInTurn(connection, channel.tenantId, async (session) => {
        const { tenantId } = channel;
        if ((await channels.countDocuments({ tenantId }, { session })) >= MAX_CHANNELS) return false;
        await channels.create([fromChannel(channel)], { session });
        await readers.follow(session, tenantId, channel.id, readersOf(channel.destination));
        await record(trail, session, cause, null, channel);
        return true;
      }),

    async update(tenantId, channelId, decide, cause) {
      const changed = await changeInTurn(connection, tenantId, async (session) => {
        const current = await channels.findOne({ _id: channelId, tenantId }, null, { session }).lean();
        if (current === null) return null;
        const before = toChannel(current);
        const after = decide(before);
        const { _id, ...fields } = fromChannel(after);
        await channels.replaceOne({ _id, tenantId }, fields, { session });
        await readers.follow(session, tenantId, channelId, readersOf(after.destination));
        await record(trail, session, cause, before, after);
        await reportChange(session, before, after);
        return after;
      });
      outbox.wake();
      return changed;
    },

    async delete(tenantId, channelId, cause) {
      const isDeleted = await changeInTurn(connection, tenantId, async (session) => {
        const deleted = await channels.findOneAndDelete({ _id: channelId, tenantId }, { session }).lean();
        if (deleted === null) return false;
        await readers.forget(session, tenantId, channelId);
        await record(trail, session, cause, toChannel(deleted), null);
        await report(session, { kind: 'channel.deleted', tenantId, channelId });
        return true;
      });
      outbox.wake();
      return isDeleted;
    },

    async recordTest(channel, cause) {
      await changeInTurn(connection, channel.tenantId, (session) =>
        trail.record(session, channel.tenantId, cause, { target: channelTarget(channel), changes: [] }),
      );
    },

    async disable(session, tenantId, channelId, revision) {
      const filter = { _id: channelId, tenantId, enabled: true, revision };
      const change = { enabled: false, updatedAt: new Date(clock()), revision: revision + 1 };
      const stored = await channels
        .findOneAndUpdate(filter, { $set: change }, { session, returnDocument: 'before' })
        .lean();
      if (stored === null) return false;
      const before = toChannel(stored);
      const after = { ...before, ...change };
      // People know this part of Tollkeeper as `alerts`, the name in its paths.
      await record(trail, session, systemCause('channel.disable', 'alerts'), before, after);
      await reportChange(session, before, after);
      return true;
    },

    requireKeys: () => requireKeys(channels, cipher),
  };
}

function record(
  trail: AuditTrail,
  session: ClientSession,
  cause: Cause,
  before: Channel | null,
  after: Channel | null,
): Promise<void> {
  const either = (after ?? before)!;
  const target = channelTarget(either);
  return trail.recordChange(session, either.tenantId, cause, { target, fields: AUDITED_CHANNEL, before, after });
}

async function requireKeys(channels: Model<StoredChannel>, cipher: SecretCipher): Promise<void> {
  const missing = await channels.findOne({ keyId: trusted({ $nin: cipher.keyIds }) }, { keyId: 1 }).lean();
  if (missing === null) return;
  throw new Error(
    `Channels are encrypted with the key "${missing.keyId}", which CHANNEL_ENCRYPTION_KEYS does not list. Add it ` +
      'after the first key: the first key encrypts, all keys decrypt.',
  );
}

/** Only the destination of a channel is encrypted. */
function sealedWith(cipher: SecretCipher) {
  function toChannel(stored: StoredChannel): Channel {
    const { _id: id, tenantId, type, keyId, iv, data, ...fields } = stored;
    const sealed = { keyId, iv: toBuffer(iv), data: toBuffer(data) };
    const config: unknown = JSON.parse(cipher.open(contextOf(tenantId, id), sealed));
    return { ...fields, id, tenantId: provenTenantId(tenantId), destination: { type, config } as Destination };
  }

  function fromChannel({ id, tenantId, destination: { type, config }, ...fields }: Channel): StoredChannel {
    return { _id: id, tenantId, type, ...fields, ...cipher.seal(contextOf(tenantId, id), JSON.stringify(config)) };
  }

  return { toChannel, fromChannel };
}

/** Reports changes of channels to alerts. */
function reportsTo(outbox: ChannelStoreDeps['outbox']) {
  async function report(session: ClientSession, change: ChannelRecord): Promise<void> {
    await outbox.add(session, [{ ...encodeChannelRecord(change), trace: activeTrace() }]);
  }

  /** Reports only changes of these fields: alerts has no others. */
  async function reportChange(session: ClientSession, before: Channel, after: Channel): Promise<void> {
    const { id, tenantId, enabled, revision, destination } = after;
    const { type } = destination;
    if (before.enabled === enabled && before.destination.type === type) return;
    await report(session, { kind: 'channel.changed', tenantId, channel: { id, type, enabled, revision } });
  }

  return { report, reportChange };
}

/** Binds a secret to its channel and workspace: a copy elsewhere cannot be decrypted. */
function contextOf(tenantId: string, channelId: string): string {
  return `${tenantId}|${channelId}`;
}
