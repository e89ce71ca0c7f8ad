import { type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import type { MongodbConfig, ServiceDeps } from '@tollkeeper/runtime';

/** What a service with a database of its own and the event log is made from. */
export interface DataServiceDeps<Config> extends ServiceDeps<Config> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock | undefined;
}

/**
 * What such a service gives to its parts: stores, consumer groups, outboxes, clients and servers take it as it is. The
 * service starts `mongo` before all other parts; until then, stores can be made on `connection`, and no more.
 */
export function createServiceBase<Config extends MongodbConfig>(name: string, deps: DataServiceDeps<Config>) {
  const { config, logger, clock = systemClock } = deps;
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  return {
    ...deps,
    name,
    clock,
    eventLog: instrumentEventLog(deps.eventLog, deps),
    mongo,
    connection: mongo.connection,
    /** For the servers: errors of the database have answers of their own, and without it the service isn't ready. */
    explain: explainOutage,
    ready: () => mongo.ping(),
  };
}

export type ServiceBase<Config extends MongodbConfig> = ReturnType<typeof createServiceBase<Config>>;
