import { Schema } from 'mongoose';

/** A channel whose destination wants no notification before `until`. */
export interface ChannelHoldDocument {
  /** The channel's id. */
  _id: string;
  until: Date;
}

export const channelHoldSchema = new Schema<ChannelHoldDocument>(
  {
    _id: { type: String, required: true },
    until: { type: Date, required: true },
  },
  { collection: 'channel_holds', versionKey: false },
);
channelHoldSchema.index({ until: 1 }, { expireAfterSeconds: 0 });
