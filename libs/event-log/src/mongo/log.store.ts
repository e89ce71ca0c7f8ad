import type { Collection, Connection, mongo } from 'mongoose';
import { type LogRecord, MissingTopic, type ReadRecord, type TopicOptions } from '../event-log.ts';

/** A topic with the end of each partition: the offset of the partition's next record. */
export interface Topic {
  name: string;
  retentionMs: number;
  endOffsets: readonly number[];
}

/** Consecutive records for one partition, stored as one document. */
export interface Batch {
  partition: number;
  records: LogRecord[];
}

export interface ReadPage {
  records: ReadRecord[];
  /** True if these were the last records of the partition at the time of the read. */
  complete: boolean;
}

interface StoredTopic {
  _id: string;
  retentionMs: number;
  /**
   * Lower bounds of the partitions' ends: acknowledged records are below them. They show consumers that there are new
   * records, and where to continue after all records have expired.
   */
  endOffsets: number[];
}

/** A stored batch. It expires as a whole. */
interface StoredBatch {
  /** Topic, partition and first offset. The id is unique, so each offset goes to one appender only. */
  _id: string;
  topic: string;
  partition: number;
  firstOffset: number;
  /** Offset after the last record. */
  nextOffset: number;
  appendedAt: Date;
  expiresAt: Date;
  records: LogRecord[];
}

const DUPLICATE_KEY = 11_000;
/**
 * Minimum milliseconds before a batch expires, whatever the retention. An appender that knows an older end finds its
 * offset taken only while the batch there exists. So this is far longer than {@link KNOWN_FOR_MS} plus differences of
 * clocks and pauses of a process.
 */
const MIN_STAY_MS = 3_600_000;
/** Milliseconds after which an appender must read the true ends of the topic again before it appends. */
export const KNOWN_FOR_MS = 60_000;
const MAJORITY = { readConcern: { level: 'majority' } } as const;

export type LogStore = ReturnType<typeof createLogStore>;

/**
 * Topics and records in MongoDB.
 *
 * Records go through the driver's collections, not through models: mongoose would cast and copy every value. They are
 * read with majority concern, so no consumer acts on a record that a fail-over rolls back.
 */
export function createLogStore(connection: Connection) {
  const topics = connection.collection<StoredTopic>('log_topics');
  const batches = connection.collection<StoredBatch>('log_batches');

  async function lastEnd(topic: string, partition: number): Promise<number> {
    const options = { ...MAJORITY, sort: { nextOffset: -1 }, projection: { nextOffset: 1 } } as const;
    const last = await batches.findOne({ topic, partition }, options);
    return last?.nextOffset ?? 0;
  }

  async function findTopic(name: string): Promise<Topic> {
    const stored = await topics.findOne({ _id: name }, MAJORITY);
    if (stored === null) throw new MissingTopic(name);
    return toTopic(stored);
  }

  /** Raises the ends. They never go down, so appenders may call it in any order. */
  async function raiseEnds(name: string, ends: ReadonlyMap<number, number>): Promise<Topic> {
    const $max = Object.fromEntries([...ends].map(([partition, end]) => [`endOffsets.${partition}`, end]));
    const stored = await topics.findOneAndUpdate({ _id: name }, { $max }, { returnDocument: 'after' });
    if (stored === null) throw new MissingTopic(name);
    return toTopic(stored);
  }

  /**
   * The topic with its true ends, including records of an appender that died after its insert, before raising the
   * stored ends.
   */
  async function settleTopic(name: string): Promise<Topic> {
    const { endOffsets } = await findTopic(name);
    const ends = await Promise.all(endOffsets.map((_, partition) => lastEnd(name, partition)));
    return raiseEnds(name, new Map(ends.entries()));
  }

  return {
    async ensureIndexes(): Promise<void> {
      await batches.createIndex({ topic: 1, partition: 1, nextOffset: 1 });
      await batches.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
    },

    /** Creates the topic, or sets the retention of the existing one. */
    async ensureTopic({ name, partitions, retentionMs }: TopicOptions): Promise<Topic> {
      const endOffsets = Array.from({ length: partitions }, () => 0);
      const stored = await topics.findOneAndUpdate(
        { _id: name },
        { $set: { retentionMs }, $setOnInsert: { endOffsets } },
        { upsert: true, returnDocument: 'after' },
      );
      if (stored === null) throw new MissingTopic(name);
      return toTopic(stored);
    },

    findTopic,
    settleTopic,

    /**
     * Appends the batches in order and resolves to the topic with its new ends. `known` is the topic as the appender
     * last saw it. Its true ends were read at most {@link KNOWN_FOR_MS} ago.
     *
     * A batch is inserted at the known end of its partition. If another process was first, it is inserted after that
     * process's records. So offsets have no gaps, and a batch is never visible without all batches before it.
     * Deliberately without a transaction: one left open by a killed process would block all appenders until the server
     * ends it.
     */
    async append(known: Topic, appended: readonly Batch[], now: number): Promise<Topic> {
      let topic = known;
      let rest = appended;
      const ends = new Map<number, number>();
      for (;;) {
        const documents = toStoredBatches(topic, rest, now);
        const inserted = await insertInOrder(batches, documents);
        for (const { partition, nextOffset } of documents.slice(0, inserted)) ends.set(partition, nextOffset);
        rest = rest.slice(inserted);
        if (rest.length === 0) return raiseEnds(topic.name, ends);
        topic = await settleTopic(topic.name);
      }
    },

    /** The records from `offset` on, from at most `maxDocuments` documents. */
    async read(topic: string, partition: number, offset: number, maxDocuments: number): Promise<ReadPage> {
      const found = await batches
        .find(
          { topic, partition, nextOffset: { $gt: offset } },
          { ...MAJORITY, sort: { nextOffset: 1 }, limit: maxDocuments, promoteBuffers: true },
        )
        .toArray();
      const records = found.flatMap(toReadRecords).filter((record) => record.offset >= offset);
      return { records, complete: found.length < maxDocuments };
    },

    /** Offset of the oldest record; null if the partition is empty. */
    async firstOffset(topic: string, partition: number): Promise<number | null> {
      const options = { ...MAJORITY, sort: { nextOffset: 1 }, projection: { firstOffset: 1 } } as const;
      const oldest = await batches.findOne({ topic, partition }, options);
      return oldest?.firstOffset ?? null;
    },
  };
}

/** Inserts in order. Resolves to the number of documents before the first one whose id is taken. */
async function insertInOrder(batches: Collection<StoredBatch>, documents: StoredBatch[]): Promise<number> {
  try {
    await batches.insertMany(documents, { ordered: true });
    return documents.length;
  } catch (error) {
    const { code, insertedCount } = error as mongo.MongoBulkWriteError;
    if (code !== DUPLICATE_KEY) throw error;
    return insertedCount;
  }
}

function toTopic({ _id, retentionMs, endOffsets }: StoredTopic): Topic {
  return { name: _id, retentionMs, endOffsets };
}

function toStoredBatches({ name, retentionMs, endOffsets }: Topic, batches: readonly Batch[], now: number) {
  const ends = [...endOffsets];
  return batches.map(({ partition, records }): StoredBatch => {
    const firstOffset = ends[partition] ?? 0;
    const nextOffset = firstOffset + records.length;
    ends[partition] = nextOffset;
    return {
      _id: `${name}/${partition}/${firstOffset}`,
      topic: name,
      partition,
      firstOffset,
      nextOffset,
      appendedAt: new Date(now),
      expiresAt: new Date(now + Math.max(retentionMs, MIN_STAY_MS)),
      records,
    };
  });
}

function toReadRecords({ firstOffset, appendedAt, records }: StoredBatch): ReadRecord[] {
  return records.map((record, index) => ({
    ...record,
    offset: firstOffset + index,
    appendedAt: appendedAt.getTime(),
  }));
}
