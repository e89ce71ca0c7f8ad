import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import { type AppendQueue, createAppendQueue } from '../append.queue.ts';
import type { EventLog } from '../event-log.ts';
import { createLogMetrics } from '../log.metrics.ts';
import { requireValidRecords } from '../log.records.ts';
import { createClientFactory, type KafkaSettings } from './kafka.client.ts';
import { createKafkaConsumer } from './kafka.consumer.ts';
import { createRecordWriter, type RecordWriter } from './record.writer.ts';
import { createTopicAdmin } from './topic.admin.ts';

export interface KafkaEventLogOptions extends KafkaSettings {
  /**
   * Number of brokers with a copy of each topic that this log creates. With 3 or more, a record counts as appended once
   * two brokers have it.
   */
  replicationFactor: number;
  logger: Logger;
  metrics: Metrics;
  /** Milliseconds without a heartbeat after which a consumer loses its partitions. Default: 6 000. */
  sessionTimeoutMs?: number;
}

/**
 * The minimum that brokers accept by default. If a live consumer is considered dead, records are merely delivered
 * again. While a dead one is considered alive, its partitions are stalled.
 */
const DEFAULT_SESSION_TIMEOUT_MS = 6_000;
/** Milliseconds that a readiness probe waits for an answer. */
const PING_TIMEOUT_MS = 2_000;
const RETRY_INTERVAL_MS = 1_000;
/** Milliseconds that a stop waits for appends that are in progress. */
const DRAIN_TIMEOUT_MS = 10_000;

interface Appender {
  queue: AppendQueue;
  writer: RecordWriter;
}

/**
 * The event log on Apache Kafka.
 *
 * Concurrent appends to a topic are sent together. An append is refused with `service_unavailable` if 32 MiB are
 * waiting, or after 10 seconds without an answer. After an outage of the brokers, the log continues without a restart.
 */
export function createKafkaEventLog(options: KafkaEventLogOptions): EventLog {
  const { logger, replicationFactor, sessionTimeoutMs = DEFAULT_SESSION_TIMEOUT_MS } = options;
  const openClient = createClientFactory(options, logger);
  const topics = createTopicAdmin({ openClient, replicationFactor, logger });
  const metrics = createLogMetrics(options.metrics);
  const appenders = new Map<string, Appender>();
  const givenUp = new AbortController();
  let stopped = false;

  function appenderOf(topic: string): Appender {
    const known = appenders.get(topic);
    if (known !== undefined) return known;
    const writer = createRecordWriter({ topic, topics, openClient });
    const queue = createAppendQueue({ topic, write: (records) => writer.write(records), metrics, logger });
    appenders.set(topic, { queue, writer });
    return { queue, writer };
  }

  return {
    name: 'event-log',
    async start() {
      for (;;) {
        try {
          await topics.ping();
          return;
        } catch (err) {
          if (givenUp.signal.aborted) throw err;
          logger.warn({ err }, 'Kafka does not answer yet; retrying');
          await delay(RETRY_INTERVAL_MS, undefined, { signal: givenUp.signal }).catch(() => undefined);
        }
      }
    },
    drain: () => givenUp.abort(),
    async stop() {
      stopped = true;
      const drained = Promise.all([...appenders.values()].map(({ queue }) => queue.drained()));
      await Promise.race([drained, delay(DRAIN_TIMEOUT_MS, undefined, { ref: false })]);
      await Promise.all([...appenders.values()].map(({ writer }) => writer.close()));
      await topics.close();
    },
    async ready() {
      const late = delay(PING_TIMEOUT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([topics.ping(), late])) === 'late') throw new Error('Kafka does not answer');
    },
    ensureTopic: (topic) => topics.ensureTopic(topic),
    async append(topic, records) {
      if (stopped) throw new Error('The event log is stopped');
      requireValidRecords(records);
      if (records.length > 0) await appenderOf(topic).queue.append(records);
    },
    consumer: (consumer) =>
      createKafkaConsumer({ options: consumer, topics, openClient, metrics, logger, sessionTimeoutMs }),
  };
}
