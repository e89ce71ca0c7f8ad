import { Schema, type ClientSession, type Connection, type Model } from 'mongoose';
import { isDuplicateKey } from './duplicate-key.ts';

/** The progress of a consumer group in each partition, stored beside the effects of what it read. */
export interface OffsetStore {
  /** The next offset to read, or null if the group has read nothing of the partition. */
  position(topic: string, partition: number): Promise<number | null>;
  /**
   * Moves the position from `from` to `to` within the transaction of `session`. If the stored position is not `from`,
   * it rejects with {@link OffsetConflict}, which aborts the transaction: another consumer has applied these records.
   */
  advance(session: ClientSession, step: OffsetStep): Promise<void>;
  /**
   * As `advance`, without moving: the transaction requires the position `from`, and conflicts with every other one that
   * advances or holds.
   */
  hold(session: ClientSession, place: OffsetPlace): Promise<void>;
}

/** The position of a group in a partition. */
export interface OffsetPlace {
  topic: string;
  partition: number;
  /** The position that the records were read from: `RecordBatch.from`. */
  from: number | null;
}

export interface OffsetStep extends OffsetPlace {
  to: number;
}

/** Another consumer, or an earlier attempt, has applied the records of a batch; the batch must be dropped. */
export class OffsetConflict extends Error {
  constructor(group: string, { topic, partition, from }: OffsetPlace) {
    super(`${group} no longer stands at ${from ?? 'the start'} in ${topic}/${partition}: another consumer moved on`);
    this.name = 'OffsetConflict';
  }
}

interface StoredOffset {
  _id: string;
  /** Null has the same meaning as no document: nothing was read. */
  nextOffset: number | null;
  updatedAt: Date;
}

const storedOffsetSchema = new Schema<StoredOffset>(
  {
    _id: { type: String, required: true },
    nextOffset: { type: Number, default: null },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'consumer_offsets', versionKey: false },
);

/** The positions of `group`, in the database of `connection`. Create it before the connection starts. */
export function createOffsetStore(connection: Connection, group: string): OffsetStore {
  const registered = connection.models['ConsumerOffset'] as Model<StoredOffset> | undefined;
  const offsets = registered ?? connection.model<StoredOffset>('ConsumerOffset', storedOffsetSchema);
  const idOf = (topic: string, partition: number): string => `${group}/${topic}/${partition}`;

  async function move(session: ClientSession, place: OffsetPlace, to: number | null): Promise<void> {
    const { topic, partition, from } = place;
    const filter = { _id: idOf(topic, partition), nextOffset: from };
    const stored = { nextOffset: to, updatedAt: new Date() };
    // If there is a document with another position, the upsert fails with a duplicate key.
    const options = { session, upsert: from === null };
    const result = await offsets.updateOne(filter, { $set: stored }, options).catch((error: unknown) => {
      throw isDuplicateKey(error) ? new OffsetConflict(group, place) : error;
    });
    if (result.matchedCount + result.upsertedCount === 0) throw new OffsetConflict(group, place);
  }

  return {
    async position(topic, partition) {
      // A fail-over may roll back writes without a majority. A reader beyond them would wait for records that exist
      // already.
      const stored = await offsets.findById(idOf(topic, partition)).readConcern('majority').lean();
      return stored?.nextOffset ?? null;
    },
    advance: (session, step) => move(session, step, step.to),
    hold: (session, place) => move(session, place, place.from),
  };
}
