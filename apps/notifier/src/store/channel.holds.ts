import { driverCollection } from '@tollkeeper/mongo';
import { type Connection, Schema } from 'mongoose';

/** A channel whose destination accepts no notification before `until`. */
interface ChannelHoldDocument {
  /** The channel's id. */
  _id: string;
  until: Date;
}

const channelHoldSchema = new Schema<ChannelHoldDocument>(
  {
    _id: { type: String, required: true },
    until: { type: Date, required: true },
  },
  { collection: 'channel_holds', versionKey: false },
);
channelHoldSchema.index({ until: 1 }, { expireAfterSeconds: 0 });

/** Channels that are on hold because their destinations asked for it. Times are epoch milliseconds. */
export interface ChannelHolds {
  /** Puts a channel on hold. Ignored if the stored `until` is later. */
  hold(channelId: string, until: number): Promise<void>;
  /** The channels among these ids that are on hold. */
  among(channelIds: readonly string[], at: number): Promise<Set<string>>;
}

export function createChannelHolds(connection: Connection): ChannelHolds {
  const holds = driverCollection<ChannelHoldDocument>(connection, 'ChannelHold', channelHoldSchema);

  return {
    async hold(channelId, until) {
      await holds.updateOne({ _id: channelId }, { $max: { until: new Date(until) } }, { upsert: true });
    },

    async among(channelIds, at) {
      const held = holds.find({ _id: { $in: [...channelIds] }, until: { $gt: new Date(at) } });
      return new Set((await held.toArray()).map(({ _id }) => _id));
    },
  };
}
