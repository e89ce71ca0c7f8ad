import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type Cause, CHANNEL_TYPES, type ChannelType, systemCause } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, toBuffer } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';
import {
  AUDITED_CHANNEL,
  type Channel,
  type ChannelStore,
  channelTarget,
  type Destination,
} from '../domain/channel.ts';
import type { RuleChanges } from './rule.changes.ts';
import type { SecretCipher } from './secret.cipher.ts';

interface StoredChannel {
  _id: string;
  tenantId: string;
  name: string | null;
  enabled: boolean;
  type: ChannelType;
  /** The destination in JSON, sealed. */
  keyId: string;
  iv: Buffer;
  data: Buffer;
  createdAt: Date;
  updatedAt: Date;
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
  },
  { collection: 'channels', versionKey: false },
);
channelSchema.index({ tenantId: 1, createdAt: 1 });
channelSchema.index({ keyId: 1 });

/** What a notification must know of a channel. */
export type ChannelSummary = Pick<Channel, 'id'> & { type: ChannelType };

/**
 * Channels in the database of `connection`, with what the other stores ask of them. Make it before the connection
 * starts.
 */
export interface MongoChannelStore extends ChannelStore {
  ids(session: ClientSession, tenantId: TenantId): Promise<string[]>;
  /** Those of the channels that exist and are enabled. */
  enabled(session: ClientSession, tenantId: TenantId, channelIds: string[]): Promise<ChannelSummary[]>;
  /**
   * Disables the channel unless it was changed after `goneAt`: its destination can be another one since. Says whether
   * it did.
   */
  disable(session: ClientSession, tenantId: TenantId, channelId: string, goneAt: Date): Promise<boolean>;
  /** Rejects, saying what to do, when a channel is sealed with a key that is not configured. */
  requireKeys(): Promise<void>;
}

export interface ChannelStoreDeps {
  connection: Connection;
  cipher: SecretCipher;
  trail: AuditTrail;
  changes: RuleChanges;
  removeFromRules: (session: ClientSession, tenantId: TenantId, channelId: string) => Promise<void>;
}

export function createChannelStore(deps: ChannelStoreDeps): MongoChannelStore {
  const { connection, cipher, trail, changes, removeFromRules } = deps;
  const channels = connection.model<StoredChannel>('Channel', channelSchema);

  function toChannel(stored: StoredChannel): Channel {
    const { _id, tenantId, name, enabled, keyId, iv, data, createdAt, updatedAt } = stored;
    const sealed = { keyId, iv: toBuffer(iv), data: toBuffer(data) };
    const destination = JSON.parse(cipher.open(contextOf(tenantId, _id), sealed)) as Destination;
    return { id: _id, tenantId: provenTenantId(tenantId), name, enabled, destination, createdAt, updatedAt };
  }

  function fromChannel({ id, tenantId, destination, ...fields }: Channel): StoredChannel {
    const sealed = cipher.seal(contextOf(tenantId, id), JSON.stringify(destination));
    return { _id: id, tenantId, type: destination.type, ...fields, ...sealed };
  }

  function record(session: ClientSession, cause: Cause, before: Channel | null, after: Channel | null): Promise<void> {
    const either = (after ?? before)!;
    const target = channelTarget(either);
    return trail.recordChange(session, either.tenantId, cause, { target, fields: AUDITED_CHANNEL, before, after });
  }

  return {
    async list(tenantId) {
      return (await channels.find({ tenantId }).sort({ createdAt: 1, _id: 1 }).lean()).map(toChannel);
    },

    async find(tenantId, channelId) {
      const stored = await channels.findOne({ _id: channelId, tenantId }).lean();
      return stored === null ? null : toChannel(stored);
    },

    count: (tenantId) => channels.countDocuments({ tenantId }),

    async insert(channel, cause) {
      await changeInTurn(connection, channel.tenantId, async (session) => {
        await channels.create([fromChannel(channel)], { session });
        await record(session, cause, null, channel);
      });
    },

    update: (tenantId, channelId, decide, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const current = await channels.findOne({ _id: channelId, tenantId }, null, { session }).lean();
        if (current === null) return null;
        const before = toChannel(current);
        const changed = decide(before);
        const { _id, ...fields } = fromChannel(changed);
        await channels.replaceOne({ _id, tenantId }, fields, { session });
        await record(session, cause, before, changed);
        return changed;
      }),

    delete: (tenantId, channelId, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        await changes.record(session, tenantId);
        const deleted = await channels.findOneAndDelete({ _id: channelId, tenantId }, { session }).lean();
        if (deleted === null) return false;
        await removeFromRules(session, tenantId, channelId);
        await record(session, cause, toChannel(deleted), null);
        return true;
      }),

    async recordTest(channel, cause) {
      await changeInTurn(connection, channel.tenantId, (session) =>
        trail.record(session, channel.tenantId, cause, { target: channelTarget(channel), changes: [] }),
      );
    },

    async ids(session, tenantId) {
      return (await channels.find({ tenantId }, { _id: 1 }, { session }).lean()).map(({ _id }) => _id);
    },

    async enabled(session, tenantId, channelIds) {
      const filter = { tenantId, enabled: true, _id: trusted({ $in: channelIds }) };
      const found = await channels.find(filter, { type: 1 }, { session }).lean();
      return found.map(({ _id, type }) => ({ id: _id, type }));
    },

    async disable(session, tenantId, channelId, goneAt) {
      const filter = { _id: channelId, tenantId, enabled: true, updatedAt: trusted({ $lte: goneAt }) };
      const update = { $set: { enabled: false, updatedAt: new Date() } };
      const stored = await channels.findOneAndUpdate(filter, update, { session, returnDocument: 'before' }).lean();
      if (stored === null) return false;
      const before = toChannel(stored);
      await record(session, systemCause('channel.disable', 'alerts'), before, { ...before, enabled: false });
      return true;
    },

    async requireKeys() {
      const missing = await channels.findOne({ keyId: trusted({ $nin: cipher.keyIds }) }, { keyId: 1 }).lean();
      if (missing === null) return;
      throw new Error(
        `Channels are encrypted with the key "${missing.keyId}", which CHANNEL_ENCRYPTION_KEYS does not hold. Add it ` +
          'behind the first one: the first key encrypts, all of them decrypt.',
      );
    },
  };
}

/** A secret copied to another channel or workspace can't be opened there. */
function contextOf(tenantId: string, channelId: string): string {
  return `${tenantId}|${channelId}`;
}
