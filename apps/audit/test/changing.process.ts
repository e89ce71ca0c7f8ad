import { createAuditTrail } from '@tollkeeper/audit-trail';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { newId, provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET } from '@tollkeeper/testing/peers';
import { createAudit } from '../src/audit.service.ts';
import { auditConfig } from '../src/config.ts';

/** One workspace per process, so that chains are written concurrently. */
export const TENANTS = ['ws_a', 'ws_b'].map(provenTenantId);

export interface Databases {
  uri: string;
  log: string;
  changes: string;
  audit: string;
}

/**
 * A service with continuous changes and the audit service in one process, so a kill can hit between any two steps of a
 * record.
 */
async function run({ uri, log, changes, audit }: Databases, index: number): Promise<void> {
  const logger = createLogger({ service: 'changing', level: 'silent' });
  const metrics = createMetrics('changing');
  const config = { EVENT_LOG_MONGODB_URI: uri, EVENT_LOG_DATABASE: log };
  const eventLog = createConfiguredEventLog({ config, logger, metrics });
  const mongo = connectMongo({ uri, database: changes, logger });
  const trail = createAuditTrail({ connection: mongo.connection, eventLog, logger });
  const environment = { HOST: '127.0.0.1', HTTP_PORT: '0', MONGODB_URI: uri, MONGODB_DATABASE: audit };
  const service = createAudit({
    config: loadConfig(auditConfig, { ...environment, CALLER_TOKEN_SECRET }),
    logger,
    metrics: createMetrics('audit'),
    eventLog,
  });
  for (const part of [mongo, eventLog, trail.outbox, service]) await part.start();
  const tenantId = TENANTS[index % TENANTS.length]!;
  const actor = { type: 'user', id: 'user_1', name: 'Ada' } as const;
  const cause = { action: 'key.create', actor, address: null, userAgent: null, requestId: null } as const;
  for (;;) {
    const id = newId('key');
    await withTransaction(mongo.connection, async (session) => {
      await mongo.connection
        .collection<{ _id: string; tenantId: string }>('things')
        .insertOne({ _id: id, tenantId }, { session });
      await trail.record(session, tenantId, cause, { target: { type: 'key', id, name: '' }, changes: [] });
    });
    process.send?.(id);
  }
}

const [databases, index] = process.argv.slice(2);
if (import.meta.main && databases) await run(JSON.parse(databases) as Databases, Number(index));
