import { OffsetConflict, toBuffer } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, type Model, Schema, trusted, type Types } from 'mongoose';
import type { ReadRecord } from './event-log.ts';

/** Records of one key that wait in the database of their consumer group. */
interface DeferredRun {
  id: Types.ObjectId;
  /** Offset of the first record that is not applied yet. */
  from: number;
  /** In offset order, from `from` on. */
  records: ReadRecord[];
}

export interface DeferredKey {
  topic: string;
  partition: number;
  key: string;
}

/** The records that a consumer group has deferred: its position is after them, and they are not applied yet. */
export interface DeferredStore {
  /** The keys of the partition with deferred records, and how many each has. */
  counts(topic: string, partition: number): Promise<Map<string, number>>;
  /** Number of deferred records in all partitions. */
  total(topic: string): Promise<number>;
  /** Whether a record of the key before `offset` is deferred. */
  hasBefore(of: DeferredKey, offset: number): Promise<boolean>;
  /** Adds records, in offset order, in the session's transaction. */
  add(session: ClientSession, place: Omit<DeferredKey, 'key'>, records: readonly ReadRecord[]): Promise<void>;
  /** The oldest records of the key, at most {@link RUN_RECORDS}; undefined if there are none. */
  first(of: DeferredKey): Promise<DeferredRun | undefined>;
  /**
   * Moves to the record at offset `to`, or removes the run if it has none, in the session's transaction. Rejects with
   * an OffsetConflict if another consumer has moved it.
   */
  move(session: ClientSession, of: DeferredKey, run: DeferredRun, to: number): Promise<void>;
}

/** Few enough that a partition can be released after applying them. */
const RUN_RECORDS = 500;

interface StoredRun extends DeferredKey {
  _id: Types.ObjectId;
  group: string;
  from: number;
  /** Number of records from `from` on. */
  count: number;
  records: Omit<ReadRecord, 'key'>[];
}

const text = { type: String, required: true } as const;
const integer = { type: Number, required: true } as const;

const runSchema = new Schema<StoredRun>(
  {
    group: text,
    topic: text,
    partition: integer,
    key: text,
    from: integer,
    count: integer,
    // Not described further: mongoose would make a document of each record.
    records: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'deferred_records', versionKey: false },
);
runSchema.index({ group: 1, topic: 1, partition: 1, key: 1, from: 1 });

/** The deferred records of `group`, in the database of `connection`. Create it before the connection starts. */
export function createDeferredStore(connection: Connection, group: string): DeferredStore {
  const registered = connection.models['DeferredRun'] as Model<StoredRun> | undefined;
  const runs = registered ?? connection.model<StoredRun>('DeferredRun', runSchema);

  async function sumsBy(id: string | null, filter: object): Promise<{ _id: string | null; count: number }[]> {
    // A fail-over may roll back writes without a majority.
    return runs
      .aggregate<{ _id: string | null; count: number }>([
        { $match: { group, ...filter } },
        { $group: { _id: id, count: { $sum: '$count' } } },
      ])
      .read('primary')
      .readConcern('majority');
  }

  return {
    async counts(topic, partition) {
      const sums = await sumsBy('$key', { topic, partition });
      return new Map(sums.map(({ _id, count }) => [String(_id), count]));
    },
    async total(topic) {
      const [sum] = await sumsBy(null, { topic });
      return sum?.count ?? 0;
    },
    async hasBefore({ topic, partition, key }, offset) {
      const filter = { group, topic, partition, key, from: trusted({ $lt: offset }) };
      return (await runs.exists(filter).read('primary').readConcern('majority')) !== null;
    },
    async add(session, place, records) {
      const made = [...Map.groupBy(records, ({ key }) => key)].flatMap(([key, ofKey]) =>
        runsOf(ofKey).map((run) => ({ group, ...place, key, from: run[0]!.offset, count: run.length, records: run })),
      );
      await runs.insertMany(made, { session });
    },
    async first({ topic, partition, key }) {
      const found = await runs
        .findOne({ group, topic, partition, key })
        .sort({ from: 1 })
        .readConcern('majority')
        .lean();
      if (found === null) return undefined;
      const { _id, from } = found;
      const records = found.records
        .filter(({ offset }) => offset >= from)
        .map((record) => ({ ...record, key, value: toBuffer(record.value) }));
      return { id: _id, from, records };
    },
    async move(session, { topic, partition }, { id, from, records }, to) {
      const left = records.filter(({ offset }) => offset >= to);
      const at = { _id: id, from };
      const moved =
        left.length === 0
          ? (await runs.deleteOne(at, { session })).deletedCount
          : (await runs.updateOne(at, { $set: { from: to, count: left.length } }, { session })).matchedCount;
      if (moved === 0) throw new OffsetConflict(group, { topic, partition, from });
    },
  };
}

/** The records divided into runs, without their key. */
function runsOf(records: readonly ReadRecord[]): Omit<ReadRecord, 'key'>[][] {
  const runs: Omit<ReadRecord, 'key'>[][] = [];
  for (let at = 0; at < records.length; at += RUN_RECORDS) {
    // Named one by one, since a record of Kafka reads its fields from its message.
    const run = records.slice(at, at + RUN_RECORDS);
    runs.push(
      run.map(({ value, headers, offset, appendedAt }) => ({ value, ...(headers && { headers }), offset, appendedAt })),
    );
  }
  return runs;
}
