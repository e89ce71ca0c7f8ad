import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollkeeper/runtime';
import kafkajs, { type Admin, type ConfigEntries } from 'kafkajs';
import { MissingTopic, type TopicOptions } from '../event-log.ts';
import { createAdminConnection } from './admin.connection.ts';
import type { OpenKafkaClient } from './kafka.client.ts';

/** Bounds of a partition: `low` is the offset of its oldest record, `high` that of its next record. */
export interface PartitionBounds {
  low: number;
  high: number;
}

/** Requests other than reading and writing records. After a failed call, the next one opens a new connection. */
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

const CREATE_TIMEOUT_MS = 10_000;
/** Milliseconds to keep looking for a missing topic, since brokers learn of a new topic one after the other. */
const LOOK_UP_MS = 1_000;
const LOOK_UP_AFTER_CREATION_MS = 30_000;
const LOOK_UP_INTERVAL_MS = 200;

export function createTopicAdmin(deps: {
  openClient: OpenKafkaClient;
  replicationFactor: number;
  logger: Logger;
}): TopicAdmin {
  const { replicationFactor, logger } = deps;
  const connection = createAdminConnection(deps.openClient);
  /**
   * The ping in progress. All callers share it: during an outage, pings would otherwise queue up before other calls.
   */
  let ping: Promise<unknown> | undefined;

  /** Null if the topic does not exist. */
  function findPartitions(topic: string): Promise<number | null> {
    return connection.use(async (admin) => {
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

  return {
    partitionsOf: (topic) => partitionsOf(topic),
    async ensureTopic(options) {
      const { name, partitions, retentionMs } = options;
      if ((await findPartitions(name)) === null) {
        await connection.use((admin) => createTopic(admin, options, replicationFactor));
      }
      const existing = await partitionsOf(name, LOOK_UP_AFTER_CREATION_MS);
      if (existing !== partitions) {
        throw new Error(
          `Topic ${name} has ${existing} partitions and cannot change to ${partitions}. ` +
            'Keep the number, or use another topic name',
        );
      }
      const isChanged = await connection.use((admin) => setRetention(admin, name, retentionMs));
      if (isChanged) logger.info({ topic: name, retention_ms: retentionMs }, 'retention of the topic changed');
    },
    boundsOf: (topic) =>
      connection.use(async (admin) => {
        const bounds: PartitionBounds[] = [];
        for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
          bounds[partition] = { low: Number(low), high: Number(high) };
        }
        return bounds;
      }),
    async ping() {
      ping ??= connection.use((admin) => admin.describeCluster()).finally(() => (ping = undefined));
      await ping;
    },
    close: connection.close,
  };
}

/** Creates the topic, unless another client creates it at the same time. */
async function createTopic(
  admin: Admin,
  { name, partitions, retentionMs }: TopicOptions,
  replicationFactor: number,
): Promise<void> {
  const topic = {
    topic: name,
    numPartitions: partitions,
    replicationFactor,
    configEntries: [
      { name: 'retention.ms', value: String(retentionMs) },
      // One replica may be down, and each acknowledged record is still on two brokers.
      { name: 'min.insync.replicas', value: replicationFactor >= 3 ? '2' : '1' },
    ],
  };
  try {
    await admin.createTopics({ topics: [topic], timeout: CREATE_TIMEOUT_MS, waitForLeaders: false });
  } catch (error) {
    if (!isOfType(error, 'INVALID_REPLICATION_FACTOR')) throw error;
    const message =
      `Topic ${name} cannot have ${replicationFactor} replicas: the cluster has fewer brokers. ` +
      'Set KAFKA_REPLICATION_FACTOR to at most their number';
    throw new Error(message, { cause: error });
  }
}

/**
 * Kafka replaces all settings of a topic at once, so the settings made by others are sent too. Resolves to whether the
 * retention has changed.
 */
async function setRetention(admin: Admin, topic: string, retentionMs: number): Promise<boolean> {
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
  const { resources } = await admin.describeConfigs({ resources: [resource], includeSynonyms: false });
  const own = (resources[0]?.configEntries ?? []).filter(isSetOnTopic);
  if (own.some(({ configName, configValue }) => configName === 'retention.ms' && configValue === String(retentionMs)))
    return false;
  const kept = own
    .filter(({ configName }) => configName !== 'retention.ms')
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
  const configEntries = [...kept, { name: 'retention.ms', value: String(retentionMs) }];
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
  return true;
}

const TOPIC_CONFIG_SOURCE = 1;

function isSetOnTopic({ configSource }: ConfigEntries): boolean {
  return Number(configSource) === TOPIC_CONFIG_SOURCE;
}

/** kafkajs wraps the errors of brokers, once or more. Their `type` identifies them. */
export function isOfType(error: unknown, type: string): boolean {
  if (!(error instanceof Error)) return false;
  if ('type' in error && error.type === type) return true;
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner.some((each) => isOfType(each, type));
}
