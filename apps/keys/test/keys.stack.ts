import { afterAll, beforeAll } from '@jest/globals';
import { createAuditLog } from '@tollkeeper/audit-trail/testing';
import { keysService, type KeysServiceDefinition, type KeyRole, type Labels } from '@tollkeeper/contracts';
import { createGrpcClient, type GrpcClient } from '@tollkeeper/grpc';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { newId, provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';
import { createKeys, keysConfig, type KeysService } from '../src/index.ts';

export const KEYS_PATH = '/api/v1/management/workspace-keys';
const REPORTS_PATH = '/api/v1/intake-reports';

export interface CallOptions {
  tenantId?: TenantId;
  role?: Role;
  /** Display name of the caller. */
  name?: string;
  /** Sent instead of a caller token; null sends none. */
  token?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The keys service on a real mongod, with real sockets. Every answer is checked against the OpenAPI document. */
export function useKeys(mongo: TestMongo, environment: NodeJS.ProcessEnv = {}) {
  const logs = testLogger();
  const clock = { now: Date.parse('2026-11-21T18:00:00.000Z') };
  const database = mongo.newDatabase();
  const audit = createAuditLog(mongo);
  let service: KeysService;
  let client: GrpcClient<KeysServiceDefinition>;
  let document: OpenApiDocument;

  async function start(): Promise<void> {
    await audit.start();
    service = createKeys({
      config: loadConfig(keysConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        MONGODB_URI: mongo.uri,
        MONGODB_DATABASE: database,
        CALLER_TOKEN_SECRET,
        ...environment,
      }),
      logger: logs.logger,
      metrics: createMetrics('keys'),
      eventLog: audit.eventLog,
      clock: () => clock.now,
    });
    await service.start();
    client = createGrpcClient(keysService, service.grpcAddress, {
      config: { CALLER_TOKEN_SECRET },
    });
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  }

  async function stop(): Promise<void> {
    await client.stop();
    await service.stop();
    await audit.stop();
  }

  async function call(method: 'get' | 'post' | 'patch', path: string, options: CallOptions = {}): Promise<Response> {
    const { tenantId = newTenant(), role = 'owner', name, headers = {}, body } = options;
    const { token = await signCallerToken(CALLER_TOKEN_SECRET, 'keys', { userId: 'user_1', name, tenantId, role }) } =
      options;
    const request = supertest(service.httpUrl)[method](path).set(headers);
    if (token !== null) request.set(CALLER_HEADER, token);
    const response = await (body === undefined ? request : request.send(body as object));
    expectMatchesOpenApi(document, { method, path, status: response.status, body: response.body as unknown });
    return response;
  }

  async function create(tenantId: TenantId, name = 'gateway', role: KeyRole = 'developer', labels?: Labels) {
    const { body } = await call('post', KEYS_PATH, { tenantId, body: { name, role, labels } });
    return body as { id: string; api_key: string; created_at: string };
  }

  async function list(tenantId: TenantId) {
    const { body } = await call('get', KEYS_PATH, { tenantId });
    return (body as { items: Record<string, unknown>[] }).items;
  }

  beforeAll(start);
  afterAll(stop);
  return {
    logs,
    audit,
    clock,
    database,
    call,
    create,
    list,
    revoke: (tenantId: TenantId, keyId: string) => call('post', `${KEYS_PATH}/${keyId}:revoke`, { tenantId }),
    setLabels: (tenantId: TenantId, keyId: string, labels: unknown) =>
      call('patch', `${KEYS_PATH}/${keyId}`, { tenantId, body: { labels } }),
    verify: (keyId: string, keySha256: Buffer) => client.verifyKey({ keyId, keySha256 }),
    keep: (report: Parameters<typeof client.keepReport>[0]) => client.keepReport(report),
    async reports(tenantId: TenantId, role: Role = 'member') {
      const { body } = await call('get', REPORTS_PATH, { tenantId, role });
      return (body as { items: Record<string, unknown>[] }).items;
    },
    useCases: () => service.useCases,
    ready: () => service.ready?.(),
    async restart() {
      await stop();
      await start();
    },
  };
}

export function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}
