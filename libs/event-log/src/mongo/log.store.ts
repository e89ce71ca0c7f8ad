import { withTransaction } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import type { LogRecord, ReadRecord, TopicOptions } from '../event-log.ts';

/** A topic and the end of each of its partitions: the offset that the next record of it gets. */
export interface StoredTopic {
  _id: string;
  retentionMs: number;
  endOffsets: number[];
}

/** Consecutive records of one partition, stored and expired as one document. */
interface StoredBatch {
  topic: string;
  partition: number;
  firstOffset: number;
  /** Offset after the last record. */
  nextOffset: number;
  appendedAt: Date;
  expiresAt: Date;
  records: LogRecord[];
}

/** Records of one partition, to be appended one after the other. */
export interface PartitionAppend {
  partition: number;
  chunks: LogRecord[][];
}

const APPEND_TIMEOUT_MS = 10_000;

export type LogStore = ReturnType<typeof createLogStore>;

/**
 * Topics and records in MongoDB.
 *
 * Records go through the driver's collections, not through models: mongoose would cast and copy every value. They are read
 * with majority concern, so no consumer acts on a record that a fail-over takes back.
 */
export function createLogStore(connection: Connection) {
  const topics = connection.collection<StoredTopic>('log_topics');
  const batches = connection.collection<StoredBatch>('log_batches');

  return {
    async ensureIndexes(): Promise<void> {
      await batches.createIndex({ topic: 1, partition: 1, nextOffset: 1 }, { unique: true });
      await batches.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
    },

    async ensureTopic({ name, partitions, retentionMs }: TopicOptions): Promise<StoredTopic> {
      const topic = await topics.findOneAndUpdate(
        { _id: name },
        { $set: { retentionMs }, $setOnInsert: { endOffsets: Array.from({ length: partitions }, () => 0) } },
        { upsert: true, returnDocument: 'after' },
      );
      if (topic === null) throw new Error(`Topic ${name} could not be made`);
      return topic;
    },

    async findTopic(name: string): Promise<StoredTopic> {
      const topic = await topics.findOne({ _id: name }, { readConcern: { level: 'majority' } });
      if (topic === null) throw new Error(`Topic ${name} does not exist; make it with ensureTopic first`);
      return topic;
    },

    /**
     * Appends and resolves to the topic with its new ends. The ends move in the transaction that inserts the records, and
     * appends of one topic wait for each other there: whoever sees a record sees all that stand before it.
     */
    append(name: string, appends: readonly PartitionAppend[], now: number): Promise<StoredTopic> {
      const growth = Object.fromEntries(
        appends.map(({ partition, chunks }) => [`endOffsets.${partition}`, countRecords(chunks)]),
      );
      return withTransaction(
        connection,
        async (session) => {
          const topic = await topics.findOneAndUpdate(
            { _id: name },
            { $inc: growth },
            { session, returnDocument: 'after' },
          );
          if (topic === null) throw new Error(`Topic ${name} is gone`);
          await batches.insertMany(
            appends.flatMap((append) => toStoredBatches(topic, append, now)),
            { session },
          );
          return topic;
        },
        { timeoutMs: APPEND_TIMEOUT_MS },
      );
    },

    /** The first documents' records from `offset` on, and whether more may follow. */
    async read(topic: string, partition: number, offset: number, maxDocuments: number): Promise<ReadPage> {
      const found = await batches
        .find(
          { topic, partition, nextOffset: { $gt: offset } },
          { sort: { nextOffset: 1 }, limit: maxDocuments, promoteBuffers: true, readConcern: { level: 'majority' } },
        )
        .toArray();
      const records = found.flatMap(toReadRecords).filter((record) => record.offset >= offset);
      return { records, complete: found.length < maxDocuments };
    },

    /** Offset of the oldest record that is left, or null when none is. */
    async firstOffset(topic: string, partition: number): Promise<number | null> {
      const oldest = await batches.findOne(
        { topic, partition },
        { sort: { nextOffset: 1 }, projection: { firstOffset: 1 }, readConcern: { level: 'majority' } },
      );
      return oldest?.firstOffset ?? null;
    },
  };
}

export interface ReadPage {
  records: ReadRecord[];
  /** True when nothing stood behind these records at the time of the read. */
  complete: boolean;
}

function toStoredBatches(topic: StoredTopic, { partition, chunks }: PartitionAppend, now: number): StoredBatch[] {
  let offset = (topic.endOffsets[partition] ?? 0) - countRecords(chunks);
  return chunks.map((records) => {
    const firstOffset = offset;
    offset += records.length;
    return {
      topic: topic._id,
      partition,
      firstOffset,
      nextOffset: offset,
      appendedAt: new Date(now),
      expiresAt: new Date(now + topic.retentionMs),
      records,
    };
  });
}

function countRecords(chunks: LogRecord[][]): number {
  return chunks.reduce((total, chunk) => total + chunk.length, 0);
}

function toReadRecords({ firstOffset, appendedAt, records }: StoredBatch): ReadRecord[] {
  return records.map((record, index) => ({
    ...record,
    offset: firstOffset + index,
    appendedAt: appendedAt.getTime(),
  }));
}
