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
   * Brokers that keep each topic that is made here. From 3 on, two of them must have a record before it counts as
   * appended.
   */
  replicationFactor: number;
  logger: Logger;
  metrics: Metrics;
  /** Milliseconds after which a consumer that gives no sign of life loses its partitions, 6 000 unless given. */
  sessionTimeoutMs?: number;
}

/**
 * As little as brokers take by default. Who is taken for dead too early costs a redelivery, who is too late a
 * standstill.
 */
const DEFAULT_SESSION_TIMEOUT_MS = 6_000;
/** Milliseconds that a probe of readiness waits for an answer. */
const PING_TIMEOUT_MS = 2_000;
const RETRY_INTERVAL_MS = 1_000;
/** Milliseconds that a stop waits for appends that are under way. */
const DRAIN_TIMEOUT_MS = 10_000;

interface Appender {
  queue: AppendQueue;
  writer: RecordWriter;
}

/**
 * The event log on Apache Kafka.
 *
 * Concurrent appends to a topic are produced together. An append is refused with `service_unavailable` when 32 MiB wait
 * already, or after 10 seconds without an answer. An outage of brokers is waited for: nothing has to be restarted.
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
          logger.warn({ err }, 'Kafka does not answer yet; trying again');
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
