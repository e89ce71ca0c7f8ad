import { Schema, type ClientSession, type Connection, type Model } from 'mongoose';
import { isDuplicateKey } from './duplicate-key.ts';

/** How far a consumer group has come in each partition, kept beside the effects of what it read. */
export interface OffsetStore {
  /** The next offset to read, or null when the group has read nothing of the partition. */
  position(topic: string, partition: number): Promise<number | null>;
  /**
   * Moves the position from `from` to `to` within the transaction of `session`. Rejects with {@link OffsetConflict}, which aborts
   * the transaction, when the stored position is not `from`: somebody else has applied these records.
   */
  advance(session: ClientSession, step: OffsetStep): Promise<void>;
}

export interface OffsetStep {
  topic: string;
  partition: number;
  /** The position that the records were read from: `RecordBatch.from`. */
  from: number | null;
  to: number;
}

/** The records of a batch were applied by another consumer, or before; the batch must be dropped. */
export class OffsetConflict extends Error {
  constructor(group: string, { topic, partition, from }: OffsetStep) {
    super(`${group} no longer stands at ${from ?? 'the start'} in ${topic}/${partition}: another consumer moved on`);
    this.name = 'OffsetConflict';
  }
}

interface StoredOffset {
  _id: string;
  nextOffset: number;
  updatedAt: Date;
}

const storedOffsetSchema = new Schema<StoredOffset>(
  {
    _id: { type: String, required: true },
    nextOffset: { type: Number, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'consumer_offsets', versionKey: false },
);

/** The positions of `group`, in the database of `connection`. Make it before the connection starts. */
export function createOffsetStore(connection: Connection, group: string): OffsetStore {
  const registered = connection.models['ConsumerOffset'] as Model<StoredOffset> | undefined;
  const offsets = registered ?? connection.model<StoredOffset>('ConsumerOffset', storedOffsetSchema);
  const idOf = (topic: string, partition: number): string => `${group}/${topic}/${partition}`;

  return {
    async position(topic, partition) {
      const stored = await offsets.findById(idOf(topic, partition)).lean();
      return stored?.nextOffset ?? null;
    },
    async advance(session, step) {
      const { topic, partition, from, to } = step;
      const _id = idOf(topic, partition);
      const stored = { nextOffset: to, updatedAt: new Date() };
      if (from === null) {
        await offsets.create([{ _id, ...stored }], { session }).catch((error: unknown) => {
          throw isDuplicateKey(error) ? new OffsetConflict(group, step) : error;
        });
        return;
      }
      const { matchedCount } = await offsets.updateOne({ _id, nextOffset: from }, { $set: stored }, { session });
      if (matchedCount === 0) throw new OffsetConflict(group, step);
    },
  };
}
