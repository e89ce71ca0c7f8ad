import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollkeeper/runtime';
import kafkajs, { type Admin, type ConfigEntries } from 'kafkajs';
import { MissingTopic, type TopicOptions } from '../event-log.ts';
import type { OpenKafkaClient } from './kafka.client.ts';

/** Bounds of a partition: `low` is the offset of its oldest record, `high` the offset that the next record gets. */
export interface PartitionBounds {
  low: number;
  high: number;
}

/**
 * Requests to the cluster that do not read or write records. After a failed call, the next one opens a new connection.
 */
export interface TopicAdmin {
  ensureTopic(options: TopicOptions): Promise<void>;
  /** Number of partitions. Rejects with {@link MissingTopic}. */
  partitionsOf(topic: string): Promise<number>;
  /** Bounds by partition number. */
  boundsOf(topic: string): Promise<PartitionBounds[]>;
  /** Rejects when no broker answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  admin: Admin;
  close(): Promise<void>;
}

const CREATE_TIMEOUT_MS = 10_000;
/** Milliseconds that a missing topic is looked for. Brokers learn of a new topic one after the other. */
const LOOK_UP_MS = 1_000;
const LOOK_UP_AFTER_CREATION_MS = 30_000;
const LOOK_UP_INTERVAL_MS = 200;

export function createTopicAdmin(deps: {
  openClient: OpenKafkaClient;
  replicationFactor: number;
  logger: Logger;
}): TopicAdmin {
  const { replicationFactor, logger } = deps;
  let session: Promise<Session> | undefined;
  let lastCall: Promise<unknown> = Promise.resolve();
  let closed = false;
  /**
   * The ping that is under way. All callers share it: in an outage, pings would otherwise queue up before other calls.
   */
  let ping: Promise<unknown> | undefined;

  async function open(): Promise<Session> {
    if (closed) throw new Error('The event log is stopped');
    const client = deps.openClient();
    const admin = client.kafka.admin();
    const close = async (): Promise<void> => {
      await admin.disconnect().catch(() => undefined);
      client.close();
    };
    try {
      await admin.connect();
    } catch (error) {
      client.close();
      throw error;
    }
    return { admin, close };
  }

  /**
   * Runs one call at a time. All calls of a client share the metadata of topics in kafkajs, and a failed call closes
   * the connection.
   */
  function withAdmin<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
    const answer = lastCall.then(() => call(use));
    lastCall = answer.catch(() => undefined);
    return answer;
  }

  async function call<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
    const opened = (session ??= open());
    try {
      return await use((await opened).admin);
    } catch (error) {
      if (session === opened) session = undefined;
      void opened.then(({ close }) => close()).catch(() => undefined);
      throw error;
    }
  }

  /** Null when the topic does not exist. */
  function findPartitions(topic: string): Promise<number | null> {
    return withAdmin(async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] }).catch((error: unknown) => {
        if (isOfType(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return { topics: [] };
        throw error;
      });
      return topics.find(({ name }) => name === topic)?.partitions.length ?? null;
    });
  }

  async function partitionsOf(topic: string, patienceMs = LOOK_UP_MS): Promise<number> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const partitions = await findPartitions(topic);
      if (partitions !== null) return partitions;
      if (performance.now() > deadline) throw new MissingTopic(topic);
      await delay(LOOK_UP_INTERVAL_MS);
    }
  }

  /** Makes the topic, unless another client makes it at the same time. */
  async function createTopic({ name, partitions, retentionMs }: TopicOptions): Promise<void> {
    const topic = {
      topic: name,
      numPartitions: partitions,
      replicationFactor,
      configEntries: [
        { name: 'retention.ms', value: String(retentionMs) },
        // So one replica may be down, and each acknowledged record still is on two brokers.
        { name: 'min.insync.replicas', value: replicationFactor >= 3 ? '2' : '1' },
      ],
    };
    try {
      await withAdmin((admin) =>
        admin.createTopics({ topics: [topic], timeout: CREATE_TIMEOUT_MS, waitForLeaders: false }),
      );
    } catch (error) {
      if (!isOfType(error, 'INVALID_REPLICATION_FACTOR')) throw error;
      const message =
        `Topic ${name} can not be kept on ${replicationFactor} brokers: the cluster has fewer. ` +
        'Set KAFKA_REPLICATION_FACTOR to their number, at most';
      throw new Error(message, { cause: error });
    }
  }

  /** Kafka replaces all settings of a topic at once, so the settings that others made are sent too. */
  async function setRetention(topic: string, retentionMs: number): Promise<void> {
    const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
    await withAdmin(async (admin) => {
      const { resources } = await admin.describeConfigs({ resources: [resource], includeSynonyms: false });
      const own = (resources[0]?.configEntries ?? []).filter(isSetOnTopic);
      if (
        own.some(({ configName, configValue }) => configName === 'retention.ms' && configValue === String(retentionMs))
      )
        return;
      const kept = own
        .filter(({ configName }) => configName !== 'retention.ms')
        .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
      const configEntries = [...kept, { name: 'retention.ms', value: String(retentionMs) }];
      await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
      logger.info({ topic, retention_ms: retentionMs }, 'retention of the topic changed');
    });
  }

  return {
    partitionsOf: (topic) => partitionsOf(topic),
    async ensureTopic(options) {
      const { name, partitions, retentionMs } = options;
      if ((await findPartitions(name)) === null) await createTopic(options);
      const existing = await partitionsOf(name, LOOK_UP_AFTER_CREATION_MS);
      if (existing !== partitions) {
        throw new Error(
          `Topic ${name} has ${existing} partitions and cannot change to ${partitions}; ` +
            'keep the number, or use a topic with another name',
        );
      }
      await setRetention(name, retentionMs);
    },
    boundsOf: (topic) =>
      withAdmin(async (admin) => {
        const bounds: PartitionBounds[] = [];
        for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
          bounds[partition] = { low: Number(low), high: Number(high) };
        }
        return bounds;
      }),
    async ping() {
      ping ??= withAdmin((admin) => admin.describeCluster()).finally(() => (ping = undefined));
      await ping;
    },
    async close() {
      closed = true;
      const opened = session;
      session = undefined;
      await opened?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}

const TOPIC_CONFIG_SOURCE = 1;

function isSetOnTopic({ configSource }: ConfigEntries): boolean {
  return Number(configSource) === TOPIC_CONFIG_SOURCE;
}

/** kafkajs wraps the errors of brokers, once or more. Their `type` says what happened. */
export function isOfType(error: unknown, type: string): boolean {
  if (!(error instanceof Error)) return false;
  if ('type' in error && error.type === type) return true;
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner.some((each) => isOfType(each, type));
}
