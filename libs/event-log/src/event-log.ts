import type { Component } from '@tollkeeper/runtime';

export interface LogRecord {
  /** Determines the partition: records with equal keys are read in the order of their appends. 1–256 characters. */
  key: string;
  /** At most {@link MAX_RECORD_BYTES}. Opaque to the log. */
  value: Buffer;
  /** Small metadata, such as a trace context. */
  headers?: Record<string, string>;
}

/** A record in the log. */
export interface ReadRecord extends LogRecord {
  /** Position in the partition: 0, 1, 2 … without gaps. It never changes. */
  offset: number;
  /** Time of the append in epoch milliseconds. The time of an event belongs in the value. */
  appendedAt: number;
}

/** Consecutive records of one partition. */
export interface RecordBatch {
  topic: string;
  partition: number;
  /** In offset order, at least one and at most the consumer's `maxRecords`. */
  records: ReadRecord[];
  /**
   * The position that the batch was read from: the result of {@link ConsumerHandler.position}, or `nextOffset` of the
   * previous batch. The first record's offset is higher if retention has removed records.
   */
  from: number | null;
  /** The position after this batch. A handler stores it together with the batch's effects. */
  nextOffset: number;
  /** The partition's end when the batch was read: `endOffset - nextOffset` records wait behind it. */
  endOffset: number;
}

/** Applies the records of a consumer and stores the positions, since the log stores none. */
export interface ConsumerHandler {
  /**
   * The next offset that this group must read, or null for the earliest record of the log. Called when the partition is
   * assigned to this consumer, and after each rejection of {@link handle}.
   */
  position(topic: string, partition: number): Promise<number | null>;
  /** Called before the first {@link handle} after each {@link position}, and if there is nothing to handle yet. */
  begins?(topic: string, partition: number): Promise<void>;
  /**
   * Applies the batch and stores `nextOffset`. If effects must happen exactly once, do both in one transaction. Then a
   * crash, a redelivery or a second owner of the partition changes nothing (see `createOffsetStore` of the mongo
   * library).
   *
   * A handler that also stores positions within a batch calls `stored` with each of them.
   *
   * Batches of one partition are handled one after the other, those of several partitions concurrently. After a
   * rejection and a back-off, the records from {@link position} on are delivered again, indefinitely. So the handler
   * must set aside records that can never be applied. The consumers of `createConsumerGroup` do all of this.
   */
  handle(batch: RecordBatch, stored: (position: number) => void): Promise<void>;
  /**
   * For handlers that store effects later than they apply them. Called when the work on a partition ends, after its
   * last {@link handle}. Unless the partition was `lost`, no other consumer gets it before this resolves, so the
   * effects can be stored now. If it was lost, another consumer may already have it and read those records again. A
   * rejection is logged.
   */
  released?(partition: ReleasedPartition): Promise<void>;
}

export interface ReleasedPartition {
  topic: string;
  partition: number;
  /** Whether another consumer may already have the partition. */
  lost: boolean;
}

export interface TopicOptions {
  /** 1–249 characters of `A-Z a-z 0-9 . _ -`. */
  name: string;
  /** Cannot change later: with another number, keys would change partitions and lose their order. */
  partitions: number;
  /** Older records may be removed, whether or not they were read. */
  retentionMs: number;
}

export interface ConsumerOptions {
  /** Consumers of one group share the topic's partitions; each group reads everything. */
  group: string;
  topic: string;
  handler: ConsumerHandler;
  /** Maximum records in one batch. */
  maxRecords: number;
  /**
   * Minimum milliseconds between the start of a batch that reached the end of the log and the next batch, so that
   * records that trickle in are applied together. A consumer that is behind does not wait, nor does the first record
   * after a pause. Default: 0.
   */
  lingerMs?: number;
}

/**
 * An append-only log of records in topics and partitions, with the contract of Apache Kafka.
 *
 * - A partition is ordered and its offsets have no gaps. No reader skips a record, however appends interleave.
 * - The live consumers of a group, in one process or many, share the partitions evenly. Partitions move when consumers
 *   join, leave or die. Two consumers can briefly hold the same partition, so delivery is at least once.
 *
 * Every adapter passes `describeEventLogConformance`.
 */
export interface EventLog extends Component {
  /**
   * Creates the topic if it is missing. Concurrent calls are safe. A changed `retentionMs` applies to later appends.
   * Rejects if the topic exists with another number of partitions.
   */
  ensureTopic(options: TopicOptions): Promise<void>;
  /**
   * Resolves once the records survive the loss of this process and of a minority of the storage's nodes. An append is
   * not atomic: after a rejection, some records may be in the log. Readers remove duplicates by an id in the value.
   *
   * Rejects with an AppError: `payload_too_large` for a record over {@link MAX_RECORD_BYTES}, or `service_unavailable`
   * with `retryAfterSeconds` if too much is waiting or the storage does not answer.
   */
  append(topic: string, records: readonly LogRecord[]): Promise<void>;
  /** A consumer of an existing topic. It reads from its start until its stop. */
  consumer(options: ConsumerOptions): LogConsumer;
}

/**
 * `stop` waits for the batches in progress and then gives up the partitions. The consumer is `impaired` while a
 * partition has been stalled for a minute.
 */
export interface LogConsumer extends Component {
  /** Number of records of the whole topic that the group has not read yet, without expired records. */
  lag(): Promise<number>;
  /**
   * By partition number: the offset of the partition's next record. Records of appends that resolved before the call
   * are below it.
   */
  endOffsets(): Promise<readonly number[]>;
  /**
   * Where the records with `key` end: their partition, and an offset after those whose appends resolved before the
   * call. The offset is 0 if the partition has no records, also if it had some that expired.
   */
  endOf(key: string): Promise<{ partition: number; offset: number }>;
}

/** Largest record value, as in Kafka's defaults: 1 MiB with room for key and headers. */
export const MAX_RECORD_BYTES = 1_000_000;

/** The topic of an append or of a consumer does not exist. */
export class MissingTopic extends Error {
  constructor(name: string) {
    super(`Topic ${name} does not exist; make it with ensureTopic first`);
    this.name = 'MissingTopic';
  }
}
