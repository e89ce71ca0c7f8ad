import { createConsumerGroup } from '@tollkeeper/event-log';
import { createHttpServer } from '@tollkeeper/http';
import { assembleService, type Component, inBackground, type ServesHttp } from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import type { AuditConfig } from './config.ts';
import { CONSUMER_GROUP, createAuditRecordsConsumer } from './consumers/audit-records.consumer.ts';
import { createAuditRoutes } from './http/audit.routes.ts';
import { createRecordStore } from './store/record.store.ts';

export type AuditDeps = DataServiceDeps<AuditConfig>;

/** Records who changed what, by workspace. Addresses are valid once started. */
export type AuditService = Component & ServesHttp;

export function createAudit(deps: AuditDeps): AuditService {
  const base = createServiceBase('audit', deps);
  const { mongo, logger } = base;
  const records = createRecordStore(base.connection);
  const group = createConsumerGroup({ ...base, name: CONSUMER_GROUP });
  const consumer = createAuditRecordsConsumer({ ...base, group, records });
  const http = createHttpServer({
    ...base,
    routes: createAuditRoutes(records),
  });
  // Stored records can be read without the log.
  return assembleService({ ...base, parts: [mongo, inBackground(consumer, logger)], http });
}
