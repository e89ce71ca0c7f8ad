import { connectMongo } from '@tollkeeper/mongo';
import {
  ConfigError,
  createLifecycle,
  integerField,
  type Logger,
  type Metrics,
  mongodbUriField,
  secret,
} from '@tollkeeper/runtime';
import { z } from 'zod';
import type { EventLog } from './event-log.ts';
import { kafkaFields, toKafkaSettings } from './kafka/kafka.config.ts';
import { createKafkaEventLog } from './kafka/kafka.event-log.ts';
import { DEFAULT_MIN_FREE_BYTES } from './mongo/disk.room.ts';
import { createMongoEventLog } from './mongo/mongo.event-log.ts';

const DEFAULT_DATABASE = 'tollkeeper_log';
const DEFAULT_REPLICATION_FACTOR = 3;

/**
 * Environment variables that say where the event log is: in MongoDB or in Kafka. They must be the same for all services
 * that read or write the log.
 */
export const eventLogConfig = {
  EVENT_LOG_MONGODB_URI: secret(
    mongodbUriField()
      .optional()
      .describe('MongoDB replica set that holds the event log, the same for all services; or set KAFKA_BROKERS'),
  ),
  EVENT_LOG_DATABASE: z
    .string()
    .min(1)
    .default(DEFAULT_DATABASE)
    .describe(`database of the event log in MongoDB; default ${DEFAULT_DATABASE}`),
  EVENT_LOG_MIN_FREE_BYTES: integerField({ min: 0, max: 1_000_000_000_000_000 })
    .prefault(String(DEFAULT_MIN_FREE_BYTES))
    .describe(
      'minimum free bytes on the disk of MongoDB, below which the event log rejects records; 0 for no minimum; default 536870912 (512 MiB)',
    ),
  ...kafkaFields,
};

/** The settings that {@link eventLogConfig} parses. Fields with a default may be absent. */
export type EventLogConfig = Partial<z.infer<z.ZodObject<typeof eventLogConfig>>>;

/**
 * The event log that the settings choose, with its own connections. Throws a ConfigError that names the variables if
 * they choose no log, or two.
 */
export function createConfiguredEventLog(deps: { config: EventLogConfig; logger: Logger; metrics: Metrics }): EventLog {
  const { config, logger, metrics } = deps;
  const { EVENT_LOG_MONGODB_URI: uri, EVENT_LOG_DATABASE: database = DEFAULT_DATABASE } = config;
  if ((uri === undefined) === (config.KAFKA_BROKERS === undefined)) {
    const message = 'set exactly one of EVENT_LOG_MONGODB_URI and KAFKA_BROKERS to say where the event log is';
    const variables = ['EVENT_LOG_MONGODB_URI', 'KAFKA_BROKERS'];
    throw new ConfigError(variables.map((variable) => ({ variable, message })));
  }
  if (uri === undefined) {
    const settings = toKafkaSettings(config, `tollkeeper-${String(logger.bindings()['service'])}`);
    const { KAFKA_REPLICATION_FACTOR: replicationFactor = DEFAULT_REPLICATION_FACTOR } = config;
    return createKafkaEventLog({ ...settings, replicationFactor, logger, metrics });
  }
  const mongo = connectMongo({ uri, database, logger });
  const log = createMongoEventLog({
    connection: mongo.connection,
    logger,
    metrics,
    ...(config.EVENT_LOG_MIN_FREE_BYTES !== undefined && { minFreeBytes: config.EVENT_LOG_MIN_FREE_BYTES }),
  });
  return { ...log, ...createLifecycle([mongo, log], logger, { name: 'event-log' }) };
}
