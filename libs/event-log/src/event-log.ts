import type { Component } from '@tollkeeper/runtime';

/** A record to append. */
export interface LogRecord {
  /**
   * Decides the partition: records with equal keys are read in the order in which they were appended. 1–256 characters.
   */
  key: string;
  /** At most {@link MAX_RECORD_BYTES}. The log never looks inside. */
  value: Buffer;
  /** Small facts beside the value, such as a trace context. */
  headers?: Record<string, string>;
}

/** A record in the log. */
export interface ReadRecord extends LogRecord {
  /** Place in the partition: 0, 1, 2 … without gaps. It never changes. */
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
   * The position that the batch was read from: the answer of {@link ConsumerHandler.position}, or `nextOffset` of the
   * batch before. The first record's offset is higher when retention has removed records.
   */
  from: number | null;
  /** The position after this batch. A handler stores it together with the batch's effects. */
  nextOffset: number;
  /** The partition's end when the batch was read: `endOffset - nextOffset` records are waiting behind it. */
  endOffset: number;
}

/** Applies the records of a consumer. The handler keeps the positions: the log stores none. */
export interface ConsumerHandler {
  /**
   * The next offset that this group has to read, or null for the earliest record of the log. Called when the partition
   * is assigned to this consumer, and after each rejection of {@link handle}.
   */
  position(topic: string, partition: number): Promise<number | null>;
  /**
   * Applies the batch and stores `nextOffset`. Where effects must happen exactly once, both are one transaction. Then a
   * crash, a redelivery or a second owner of the partition changes nothing (see `createOffsetStore` of the mongo
   * library).
   *
   * A handler that also stores positions within a batch calls `stored` with each of them.
   *
   * Batches of one partition come one after the other, batches of several partitions at the same time. After a
   * rejection and a back-off, the records from {@link position} on come again, indefinitely. So the handler has to set
   * aside records that can never be applied. The consumers of `createConsumerGroup` do all of this.
   */
  handle(batch: RecordBatch, stored: (position: number) => void): Promise<void>;
  /**
   * For handlers that store effects later than they apply them. Called when the work on a partition ends, after its
   * last {@link handle}. Unless the partition was `lost`, no consumer gets it before this resolves, so the effects can
   * be stored now. If it was lost, another consumer may have it already and reads those records again. A rejection is
   * logged.
   */
  released?(partition: ReleasedPartition): Promise<void>;
}

export interface ReleasedPartition {
  topic: string;
  partition: number;
  /** Whether another consumer may have the partition already. */
  lost: boolean;
}

export interface TopicOptions {
  /** 1–249 characters of `A-Z a-z 0-9 . _ -`. */
  name: string;
  /** Fixed once the topic exists: with another number, keys would change partitions and lose their order. */
  partitions: number;
  /** Records older than this may be removed, whether they were read or not. */
  retentionMs: number;
}

export interface ConsumerOptions {
  /** Consumers of one group share the topic's partitions; each group reads everything. */
  group: string;
  topic: string;
  handler: ConsumerHandler;
  /** Most records in one batch. */
  maxRecords: number;
  /**
   * Least milliseconds from the begin of a batch that reached the end of the log to the next batch, so that records
   * which trickle in are applied together. A consumer that is behind does not wait, nor does the first record after a
   * pause. Default: 0.
   */
  lingerMs?: number;
}

/**
 * An append-only log of records in topics and partitions, with the contract of Apache Kafka.
 *
 * - A partition is ordered and its offsets have no gaps; no reader skips a record, however appends interleave.
 * - Partitions are shared out fairly among the live consumers of a group, in one process or in many, and move when
 *   consumers come, go or die. Two consumers can hold the same partition briefly, so delivery is at least once.
 *
 * Every adapter passes `describeEventLogConformance`.
 */
export interface EventLog extends Component {
  /**
   * Makes the topic if it is missing. Concurrent calls are safe. A changed `retentionMs` applies to later appends.
   * Rejects when the topic exists with another number of partitions.
   */
  ensureTopic(options: TopicOptions): Promise<void>;
  /**
   * Resolves once the records survive the loss of this process and of a minority of the storage's nodes. An append is
   * not atomic: after a rejection, some records may be in the log. Readers remove duplicates by an id in the value.
   *
   * Rejects with an AppError: `payload_too_large` for a record over {@link MAX_RECORD_BYTES}, and `service_unavailable`
   * with `retryAfterSeconds` when too much waits already or the storage does not answer.
   */
  append(topic: string, records: readonly LogRecord[]): Promise<void>;
  /** A consumer of an existing topic. It reads from its start to its stop. */
  consumer(options: ConsumerOptions): LogConsumer;
}

/**
 * `stop` waits for the batches in hand and then gives the partitions up. The consumer is `impaired` while a partition
 * has stood still for a minute.
 */
export interface LogConsumer extends Component {
  /** Records of the whole topic that the group has not read yet. Expired records do not count. */
  lag(): Promise<number>;
  /**
   * By partition number: the offset that the partition's next record gets. Appends that resolved before the call are
   * below it.
   */
  endOffsets(): Promise<readonly number[]>;
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
