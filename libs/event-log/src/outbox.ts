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

/** A record on its way to the log. */
export interface OutboxRecord extends Pick<LogRecord, 'key' | 'value'> {
  /** Unique in its topic, also for readers, who may get a record more than once. */
  id: string;
  /** What the record belongs to. It goes with the record through the log. */
  trace: TraceHeaders | undefined;
}

/**
 * Records that are written in the transaction of what they report, and moved to a topic behind it: such a change
 * without its record, or a record without its change, cannot be.
 *
 * Each record is in the log at least once, and those of one key in the order in which they were added, as far as the
 * clocks of the replicas agree. Every replica moves what it finds, oldest first, and removes it once the log has it, so
 * two that look at the same moment append the same records twice.
 */
export interface Outbox extends Loop, LoopStatus {
  readonly topic: string;
  /** Call it in the transaction of the change. */
  add(session: ClientSession, records: readonly OutboxRecord[]): Promise<void>;
  /** Records that are not known to be in the log. */
  depth(): Promise<number>;
  /** When the oldest of them was added; null without one. */
  oldest(): Promise<Date | null>;
}

export interface OutboxOptions {
  topic: TopicOptions;
  /** In the database of `connection`: one for each topic. */
  collection: string;
  connection: Connection;
  eventLog: Pick<EventLog, 'ensureTopic' | 'append'>;
  logger: Logger;
  clock?: Clock | undefined;
  /** Milliseconds from one look to the next. Default: 500. */
  intervalMs?: number;
}

interface StoredRecord {
  _id: string;
  key: string;
  value: Buffer;
  createdAt: Date;
  /** Rises with everything that a process adds, since much is added within a millisecond. */
  place: number;
  trace?: TraceHeaders | undefined;
}

/** Bounds of what is moved at a time. A record that is larger is moved on its own. */
const MAX_RECORDS = 500;
const MAX_BYTES = 4 * 1024 * 1024;
const DEFAULT_INTERVAL_MS = 500;

/** Make it before the connection starts, and start it after that. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { topic, collection, connection, eventLog, logger, clock = systemClock } = options;
  const stored = connection.model<StoredRecord>(`Outbox ${topic.name}`, outboxSchema(collection));
  let place = 0;

  /** Oldest first. */
  async function next(): Promise<StoredRecord[]> {
    const found: StoredRecord[] = [];
    let bytes = 0;
    // A fail-over may take back what no majority has. The log would keep a record of it.
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

/** What operators see of a service's outboxes, each looked up whenever the metrics are read. */
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
            logger.warn({ err, metric: name, topic }, 'a metric could not be looked up; it is left out');
          }
        }
      },
    });
  gauge('outbox_depth', 'Records that are not in the log yet', (outbox) => outbox.depth());
  gauge(
    'outbox_oldest_age_seconds',
    'Age of the oldest record that is not in the log yet; 0 without one',
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
