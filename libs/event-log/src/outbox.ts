import type { Clock } from '@tollkeeper/kernel';
import { systemClock } from '@tollkeeper/kernel';
import {
  createLoop,
  type Logger,
  type Loop,
  type LoopStatus,
  type Metrics,
  type TraceHeaders,
} from '@tollkeeper/runtime';
import { toBuffer } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';
import type { EventLog, LogRecord, TopicOptions } from './event-log.ts';

/** A record to be moved to the log. */
export interface OutboxRecord extends Pick<LogRecord, 'key' | 'value'> {
  /** Unique in its topic. Readers, who may get a record more than once, use it to remove duplicates. */
  id: string;
  /** The trace of the record, which travels with it through the log. */
  trace: TraceHeaders | undefined;
}

/**
 * Records that are written in the same transaction as the change that they report, and moved to a topic later. So there
 * is never a change without its record, or a record without its change.
 *
 * Each record is in the log at least once. Records with the same key keep the order in which they were added, as far as
 * the clocks of the replicas agree. Every replica moves what it finds, oldest first, and removes it once the log has
 * it. So two replicas that read at the same time append the same records twice.
 */
export interface Outbox extends Loop, LoopStatus {
  readonly topic: string;
  /** Call it in the transaction of the change. */
  add(session: ClientSession, records: readonly OutboxRecord[]): Promise<void>;
  /** Number of records that are not known to be in the log. */
  depth(): Promise<number>;
  /** When the oldest of them was added; null if there is none. */
  oldest(): Promise<Date | null>;
}

export interface OutboxOptions {
  topic: TopicOptions;
  /** Name of its collection in the database of `connection`, one per topic. */
  collection: string;
  connection: Connection;
  eventLog: Pick<EventLog, 'ensureTopic' | 'append'>;
  logger: Logger;
  clock?: Clock | undefined;
  /** Milliseconds between two reads of the outbox. Default: 500. */
  intervalMs?: number;
}

interface StoredRecord {
  _id: string;
  key: string;
  value: Buffer;
  createdAt: Date;
  /** Increases with every record that a process adds, to order those of the same millisecond. */
  place: number;
  trace?: TraceHeaders | undefined;
}

/** Limits of one move. A larger record is moved on its own. */
const MAX_RECORDS = 500;
const MAX_BYTES = 4 * 1024 * 1024;
const DEFAULT_INTERVAL_MS = 500;

/** Make it before the connection starts, and start it afterwards. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { topic, collection, connection, eventLog, logger, clock = systemClock } = options;
  const stored = connection.model<StoredRecord>(`Outbox ${topic.name}`, outboxSchema(collection));
  let place = 0;

  /** Oldest first. */
  async function next(): Promise<StoredRecord[]> {
    const found: StoredRecord[] = [];
    let bytes = 0;
    // A fail-over may roll back what no majority has, and the log would keep a record of it.
    const oldest = stored.find().sort({ createdAt: 1, place: 1 }).limit(MAX_RECORDS).readConcern('majority');
    const cursor = oldest.lean().cursor({ batchSize: 100 });
    for await (const record of cursor) {
      bytes += toBuffer(record.value).length;
      if (found.length > 0 && bytes > MAX_BYTES) break;
      found.push(record);
    }
    return found;
  }

  async function moveAll(): Promise<void> {
    for (;;) {
      const found = await next();
      if (found.length === 0) return;
      await eventLog.append(topic.name, found.map(toLogRecord));
      await stored.deleteMany({ _id: trusted({ $in: found.map(({ _id }) => _id) }) });
    }
  }

  const loop = createLoop({
    name: `outbox ${topic.name}`,
    prepare: () => eventLog.ensureTopic(topic),
    work: moveAll,
    intervalMs: options.intervalMs ?? DEFAULT_INTERVAL_MS,
    logger,
    clock,
  });
  return Object.assign(loop, {
    topic: topic.name,
    async add(session: ClientSession, records: readonly OutboxRecord[]) {
      if (records.length === 0) return;
      const createdAt = new Date(clock());
      await stored.insertMany(
        records.map(({ id, ...record }) => ({ _id: id, createdAt, place: (place += 1), ...record })),
        { session },
      );
    },
    depth: () => stored.countDocuments(),
    async oldest() {
      const found = await stored.findOne({}, { createdAt: 1 }).sort({ createdAt: 1, place: 1 }).lean();
      return found?.createdAt ?? null;
    },
  });
}

/** Metrics of a service's outboxes, read from the database whenever the metrics are scraped. */
export function observeOutboxes(
  deps: { metrics: Metrics; logger: Logger; clock?: Clock | undefined },
  outboxes: readonly Pick<Outbox, 'topic' | 'depth' | 'oldest'>[],
): void {
  const { metrics, logger, clock = systemClock } = deps;
  const gauge = (name: string, help: string, lookUp: (of: Pick<Outbox, 'depth' | 'oldest'>) => Promise<number>) =>
    metrics.gauge({
      name,
      help,
      labelNames: ['topic'],
      async collect() {
        for (const outbox of outboxes) {
          const { topic } = outbox;
          try {
            this.set({ topic }, await lookUp(outbox));
          } catch (err) {
            this.remove({ topic });
            logger.warn({ err, metric: name, topic }, 'a metric could not be read; omitting it from this scrape');
          }
        }
      },
    });
  gauge('outbox_depth', 'Records waiting to be moved to the event log', (outbox) => outbox.depth());
  gauge(
    'outbox_oldest_age_seconds',
    'Age of the oldest record waiting to be moved to the event log; otherwise 0',
    async (outbox) => {
      const oldest = await outbox.oldest();
      return oldest === null ? 0 : Math.max(0, clock() - oldest.getTime()) / 1000;
    },
  );
}

function outboxSchema(collection: string): Schema<StoredRecord> {
  const text = { type: String, required: true } as const;
  const schema = new Schema<StoredRecord>(
    {
      _id: text,
      key: text,
      value: { type: Buffer, required: true },
      createdAt: { type: Date, required: true },
      place: { type: Number, required: true },
      trace: { traceparent: String, tracestate: String },
    },
    { collection, versionKey: false },
  );
  schema.index({ createdAt: 1, place: 1 });
  return schema;
}

function toLogRecord({ key, value, trace }: StoredRecord): LogRecord {
  return { key, value: toBuffer(value), ...(trace?.traceparent !== undefined && { headers: { ...trace } }) };
}
