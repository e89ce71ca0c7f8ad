import { createConsumerGroup, type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import { assembleService, type Component, inBackground, type ServesHttp, type ServiceDeps } from '@tollkeeper/runtime';
import type { AuditConfig } from './config.ts';
import { CONSUMER_GROUP, createAuditRecordsConsumer } from './consumers/audit-records.consumer.ts';
import { createAuditRoutes } from './http/audit.routes.ts';
import { createRecordStore } from './store/record.store.ts';

export interface AuditDeps extends ServiceDeps<AuditConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
}

/** Who changed what, by workspace. Addresses are valid once started. */
export type AuditService = Component & ServesHttp;

export function createAudit(deps: AuditDeps): AuditService {
  const { config, logger, metrics, tracer, clock = systemClock } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const { connection } = mongo;
  const records = createRecordStore(connection);
  const group = createConsumerGroup({ name: CONSUMER_GROUP, eventLog, connection, metrics, logger });
  const consumer = createAuditRecordsConsumer({ group, records, metrics, clock });
  const http = createHttpServer({
    ...deps,
    routes: createAuditRoutes(records),
    service: 'audit',
    title: 'Tollkeeper audit',
    explain: explainOutage,
  });
  // What is recorded can be read without the log.
  return assembleService({ name: 'audit', logger, parts: [mongo, inBackground(consumer, logger)], http });
}
