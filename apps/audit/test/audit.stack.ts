import { afterAll, beforeAll } from '@jest/globals';
import { createAuditLog } from '@tollkeeper/audit-trail/testing';
import { AUDIT_TOPIC, type AuditRecord, auditRecordOf, type Cause, encodeAuditRecord } from '@tollkeeper/contracts';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { newId, provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  eventually,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';
import { auditConfig, type AuditService, createAudit } from '../src/index.ts';

export interface Listed {
  id: string;
  sequence: number;
  hash: string;
  previous_hash: string | null;
  [field: string]: unknown;
}

/** The service on a real mongod and event log. Every JSON answer is checked against its OpenAPI document. */
export function useAudit(mongo: TestMongo) {
  const { logger } = testLogger();
  const database = mongo.newDatabase();
  const audit = createAuditLog(mongo);
  const clock = { now: Date.parse('2026-11-21T18:00:00.000Z') };
  let service: AuditService;
  let document: OpenApiDocument;

  async function startService(): Promise<void> {
    const config = loadConfig(auditConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      MONGODB_URI: mongo.uri,
      MONGODB_DATABASE: database,
      CALLER_TOKEN_SECRET,
    });
    const metrics = createMetrics('audit');
    service = createAudit({ config, logger, metrics, eventLog: audit.eventLog, clock: () => clock.now });
    await service.start();
  }

  beforeAll(async () => {
    await audit.start();
    await startService();
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(async () => {
    await service.stop();
    await audit.stop();
  });

  const tokenOf = (tenantId: TenantId, role: Role = 'owner', userId = `owner_of_${tenantId}`) =>
    signCallerToken(CALLER_TOKEN_SECRET, 'audit', { userId, tenantId, role });

  async function get(
    tenantId: TenantId,
    query: Record<string, string | number> = {},
    role?: Role,
    id?: string,
    userId?: string,
  ): Promise<Response> {
    const path = id === undefined ? '/api/v1/audit' : `/api/v1/audit/${id}`;
    const token = await tokenOf(tenantId, role, userId);
    const response = await supertest(service.httpUrl).get(path).query(query).set(CALLER_HEADER, token);
    if (response.type === 'application/json') {
      expectMatchesOpenApi(document, { method: 'get', path, status: response.status, body: response.body as unknown });
    }
    return response;
  }

  async function list(tenantId: TenantId, query?: Record<string, string | number>): Promise<Listed[]> {
    return ((await get(tenantId, query)).body as { items: Listed[] }).items;
  }

  async function append(records: readonly AuditRecord[]): Promise<void> {
    await audit.eventLog.append(AUDIT_TOPIC, records.map(encodeAuditRecord));
  }

  return {
    clock,
    database,
    logDatabase: audit.database,
    mongo,
    service: () => service,
    tokenOf,
    get,
    list,
    append,
    eventLog: () => audit.eventLog,
    collection: (name: 'records' | 'chains') => mongo.connection.useDb(database).collection(name),
    /** Appends the records and waits until all of them are in the workspace. */
    async record(records: readonly AuditRecord[]): Promise<void> {
      await append(records);
      const [{ tenantId }] = records as [AuditRecord];
      const ids = records.map(({ id }) => id as never);
      await eventually(async () => {
        const found = await mongo.connection
          .useDb(database)
          .collection('records')
          .countDocuments({ _id: { $in: ids } });
        if (found < records.length) throw new Error(`${tenantId} has ${found} of ${records.length} records`);
      });
    },
    async restart() {
      await service.stop();
      await startService();
    },
  };
}

export function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}

export interface RecordParts {
  action?: Cause['action'];
  actor?: string;
  target?: { type: string; id: string; name: string };
  at?: number;
}

export function newRecord(tenantId: TenantId, parts: RecordParts = {}): AuditRecord {
  const { action = 'key.create', actor = 'user_1', at = Date.parse('2026-11-21T17:00:00.000Z') } = parts;
  const { target = { type: 'key', id: 'k1', name: 'eu-1' } } = parts;
  const cause: Cause = {
    action,
    actor: { type: 'user', id: actor, name: 'Ada' },
    address: '203.0.113.7',
    userAgent: 'curl/8',
    requestId: 'request-1',
  };
  return auditRecordOf(tenantId, cause, { target, changes: [{ field: 'name', from: null, to: 'eu-1' }] }, at);
}
