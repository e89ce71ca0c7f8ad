import { systemClock, type Clock } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { type AppendQueue, createAppendQueue, toAppendError } from '../append.queue.ts';
import type { EventLog, LogRecord } from '../event-log.ts';
import { createLogMetrics } from '../log.metrics.ts';
import { requireValidRecords } from '../log.records.ts';
import { toBatches } from './batches.ts';
import { createDiskRoom, DEFAULT_MIN_FREE_BYTES } from './disk.room.ts';
import { createEndOffsets, type EndOffsets } from './end-offsets.ts';
import { createLogStore, KNOWN_FOR_MS, type LogStore, type Topic } from './log.store.ts';
import { createMongoConsumer } from './mongo.consumer.ts';

export interface MongoEventLogOptions {
  /** Start it before the log and stop it after the log. Its database has the log's collections, `log_*`. */
  connection: Connection;
  logger: Logger;
  metrics: Metrics;
  clock?: Clock;
  /** A monotonic clock in milliseconds, from any origin. */
  monotonicClock?: Clock;
  /**
   * Milliseconds without a heartbeat after which a consumer loses its partitions. A consumer sends four heartbeats in
   * that time.
   */
  leaseMs?: number;
  /** Milliseconds between two polls for records of other processes. Records of this process are seen at once. */
  pollIntervalMs?: number;
  /** Appends are refused below this free space on the disk of MongoDB. 0 turns this off; default: 512 MiB. */
  minFreeBytes?: number;
}

/**
 * The event log in MongoDB, for installations without Kafka.
 *
 * Concurrent appends are written together. An append is refused with `service_unavailable` if 32 MiB are waiting, after
 * 10 seconds without an answer, and while the disk of MongoDB is almost full.
 */
export function createMongoEventLog({
  connection,
  logger,
  metrics,
  clock = systemClock,
  monotonicClock = () => performance.now(),
  leaseMs = 4_000,
  pollIntervalMs = 250,
  minFreeBytes = DEFAULT_MIN_FREE_BYTES,
}: MongoEventLogOptions): EventLog {
  const store = createLogStore(connection);
  const logMetrics = createLogMetrics(metrics);
  const room = createDiskRoom({ connection, minFreeBytes, metrics: logMetrics, logger, now: monotonicClock });
  const queues = new Map<string, Promise<AppendQueue>>();
  const ends = new Map<string, EndOffsets>();
  let stopped = false;

  function endsOf(topic: string): EndOffsets {
    const known = ends.get(topic) ?? createEndOffsets(store, topic, pollIntervalMs);
    ends.set(topic, known);
    return known;
  }

  function queueOf(topic: string): Promise<AppendQueue> {
    const opened = queues.get(topic) ?? openQueue(topic);
    queues.set(topic, opened);
    return opened;
  }

  async function openQueue(topic: string): Promise<AppendQueue> {
    try {
      const append = await openAppender(store, topic, { clock, monotonicClock });
      const write = async (records: readonly LogRecord[]) => endsOf(topic).learn(await append(records));
      return createAppendQueue({ topic, write, metrics: logMetrics, logger });
    } catch (error) {
      queues.delete(topic);
      throw toAppendError(error, 'The event log does not answer. Try again shortly.');
    }
  }

  return {
    name: 'event-log',
    start: () => store.ensureIndexes(),
    async stop() {
      stopped = true;
      for (const opening of queues.values()) {
        const queue = await opening.catch(() => undefined);
        await queue?.drained();
      }
    },
    async ensureTopic(options) {
      const { endOffsets } = await store.ensureTopic(options);
      if (endOffsets.length !== options.partitions) {
        throw new Error(
          `Topic ${options.name} has ${endOffsets.length} partitions and cannot change to ${options.partitions}. ` +
            'Keep the number, or use another topic name',
        );
      }
    },
    async append(topic, records) {
      if (stopped) throw new Error('The event log is stopped');
      requireValidRecords(records);
      if (records.length === 0) return;
      room.require();
      await (await queueOf(topic)).append(records);
    },
    consumer: (options) =>
      createMongoConsumer({
        options,
        connection,
        store,
        ends: endsOf(options.topic),
        metrics: logMetrics,
        logger,
        monotonicClock,
        leaseMs,
      }),
  };
}

/** Appends to a topic at the ends that it last saw. */
async function openAppender(store: LogStore, topic: string, clocks: Record<'clock' | 'monotonicClock', Clock>) {
  const { clock, monotonicClock } = clocks;
  let settledAt = monotonicClock();
  let last = await store.settleTopic(topic);
  return async (records: readonly LogRecord[]): Promise<Topic> => {
    const now = monotonicClock();
    if (now - settledAt > KNOWN_FOR_MS) {
      // Records of other processes may have expired since, so that only the stored ends show them.
      last = await store.settleTopic(topic);
      settledAt = now;
    }
    last = await store.append(last, toBatches(records, last.endOffsets.length), clock());
    return last;
  };
}
