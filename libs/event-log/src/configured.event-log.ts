import { connectMongo } from '@tollkeeper/mongo';
import { createLifecycle, type Logger, type Metrics, mongodbUriField } from '@tollkeeper/runtime';
import { z } from 'zod';
import type { EventLog } from './event-log.ts';
import { createMongoEventLog } from './mongo/mongo.event-log.ts';

/** Environment that says where the event log is; every service that reads or writes it has the same. */
export const eventLogConfig = {
  EVENT_LOG_MONGODB_URI: mongodbUriField().describe(
    'MongoDB replica set that holds the event log, the same for all services',
  ),
  EVENT_LOG_DATABASE: z
    .string()
    .min(1)
    .default('tollkeeper_log')
    .describe('database of the event log; default tollkeeper_log'),
};

/** The event log that the environment names, with a connection of its own. */
export function createConfiguredEventLog(deps: {
  config: { EVENT_LOG_MONGODB_URI: string; EVENT_LOG_DATABASE: string };
  logger: Logger;
  metrics: Metrics;
}): EventLog {
  const { config, logger, metrics } = deps;
  const mongo = connectMongo({ uri: config.EVENT_LOG_MONGODB_URI, database: config.EVENT_LOG_DATABASE, logger });
  const log = createMongoEventLog({ connection: mongo.connection, logger, metrics });
  return { ...log, ...createLifecycle([mongo, log], logger, { name: 'event-log' }) };
}
