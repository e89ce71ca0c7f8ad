import { type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import type { MongodbConfig, ServiceDeps } from '@tollkeeper/runtime';

/** The dependencies of a service with its own database and the event log. */
export interface DataServiceDeps<Config> extends ServiceDeps<Config> {
  /** Start it before the service and stop it afterwards. */
  eventLog: EventLog;
  clock?: Clock | undefined;
}

/**
 * The common base for the parts of such a service: stores, consumer groups, outboxes, clients and servers. The service
 * starts `mongo` before all other parts; until then, stores can only be made on `connection`, not used.
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
    /** For the servers: database outages get their own answers, and without the database the service is not ready. */
    explain: explainOutage,
    ready: () => mongo.ping(),
  };
}

export type ServiceBase<Config extends MongodbConfig> = ReturnType<typeof createServiceBase<Config>>;
