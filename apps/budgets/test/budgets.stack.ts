import { afterAll, beforeAll } from '@jest/globals';
import { createAuditLog } from '@tollkeeper/audit-trail/testing';
import {
  budgetsService,
  type BudgetsServiceDefinition,
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEventRecord,
} from '@tollkeeper/contracts';
import type { LogConsumer } from '@tollkeeper/event-log';
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
import { budgetsConfig, type BudgetsService, createBudgets } from '../src/index.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

export interface CallOptions {
  role?: Role;
  userId?: string;
  /** The workspace in the path, if not the caller's. */
  pathTenant?: string;
  /** Sent instead of a caller token; null sends none. */
  token?: string | null;
  body?: unknown;
}

/**
 * The budgets service on a real mongod, with a stand-in for identity behind real gRPC. Every answer is checked against
 * the OpenAPI document. With the `database` of another one, it is a second replica of that.
 */
export function useBudgets(mongo: TestMongo, database = mongo.newDatabase()) {
  const logs = testLogger();
  const clock = { now: Date.parse('2026-11-21T18:00:00.000Z') };
  const audit = createAuditLog(mongo);
  const identity = createIdentityStandIn(logs.logger);
  let service: BudgetsService;
  let client: GrpcClient<BudgetsServiceDefinition>;
  let document: OpenApiDocument;
  /** The events in the log, by id: the outbox may send one twice. */
  const events = new Map<string, GatewayEventRecord>();
  let reader: LogConsumer;

  beforeAll(async () => {
    await identity.start();
    await audit.start();
    service = createBudgets({
      config: loadConfig(budgetsConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        MONGODB_URI: mongo.uri,
        MONGODB_DATABASE: database,
        CALLER_TOKEN_SECRET,
        IDENTITY_GRPC: identity.address,
      }),
      logger: logs.logger,
      metrics: createMetrics('budgets'),
      eventLog: audit.eventLog,
      clock: () => clock.now,
    });
    await audit.eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
    reader = audit.eventLog.consumer({
      ...{ group: newId('run'), topic: GATEWAY_EVENTS_TOPIC, maxRecords: 100 },
      handler: {
        position: async () => null,
        async handle({ records }) {
          for (const found of records.map(({ value }) => decodeGatewayEvent(value))) events.set(found.event.id, found);
        },
      },
    });
    await reader.start();
    await service.start();
    client = createGrpcClient(budgetsService, service.grpcAddress, {
      config: { CALLER_TOKEN_SECRET },
      deadlineMs: 60_000,
    });
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(async () => {
    await client.stop();
    await service.stop();
    await reader.stop();
    await audit.stop();
    await identity.stop();
  });

  /** Makes a call to `below`, a path under the daily budgets of the caller's workspace. */
  const call = (method: Method, tenantId: TenantId, below: string, options: CallOptions = {}) =>
    callPath(method, tenantId, `/api/v1/workspaces/${options.pathTenant ?? tenantId}/budgets${below}`, options);

  /** Makes a call to `below`, a path under `/api/v1/budgets`. */
  const callBudgets = (method: Method, tenantId: TenantId, below: string, options: CallOptions = {}) =>
    callPath(method, tenantId, `/api/v1/budgets${below}`, options);

  /** Makes a call to `below`, a query after `/api/v1/prices`. */
  const callPrices = (method: Method, tenantId: TenantId, below: string, options: CallOptions = {}) =>
    callPath(method, tenantId, `/api/v1/prices${below}`, options);

  /** Makes a call to `below`, a path under `/api/v1/pauses`. */
  const callPauses = (method: Method, tenantId: TenantId, below: string, options: CallOptions = {}) =>
    callPath(method, tenantId, `/api/v1/pauses${below}`, options);

  /** Makes a call to `below`, a path under `/api/v1/raises`. */
  const callRaises = (method: Method, tenantId: TenantId, below: string, options: CallOptions = {}) =>
    callPath(method, tenantId, `/api/v1/raises${below}`, options);

  async function callPath(method: Method, tenantId: TenantId, path: string, options: CallOptions): Promise<Response> {
    const { role = 'owner', userId = 'user_1', body } = options;
    const { token = await signCallerToken(CALLER_TOKEN_SECRET, 'budgets', { userId, tenantId, role }) } = options;
    const request = supertest(service.httpUrl)[method](path);
    if (token !== null) request.set(CALLER_HEADER, token);
    const response = await (body === undefined ? request : request.send(body as object));
    const answered = response.status === 204 ? undefined : (response.body as unknown);
    expectMatchesOpenApi(document, { method, path, status: response.status, body: answered });
    return response;
  }

  async function list(tenantId: TenantId, below: '/agents' | '/plans') {
    return ((await call('get', tenantId, below)).body as { items: Record<string, unknown>[] }).items;
  }

  const put = (tenantId: TenantId, below: string, body: unknown) => call('put', tenantId, below, { body });

  return {
    audit,
    clock,
    identity,
    database,
    call,
    callBudgets,
    callPrices,
    callPauses,
    callRaises,
    list,
    put,
    setDaily: (tenantId: TenantId, below: string, micros: unknown) =>
      put(tenantId, below, { daily_budget_usd_micros: micros }),
    getBudgets: (tenantId: string, agentIds: string[] = [], planKeys: string[] = []) =>
      client.getBudgets({ tenantId, agentIds, planKeys }),
    listBudgets: (tenantId: string) => client.listBudgets({ tenantId }),
    listActiveBudgets: async (tenantId: string) => (await client.listActiveBudgets({ tenantId })).budgets,
    listPauses: async (tenantId: string) => (await client.listActiveBudgets({ tenantId })).pauses,
    listRaises: async (tenantId: string) => (await client.listActiveBudgets({ tenantId })).raises,
    /** Asks with a workspace key, as the enforcer does. */
    requestRaise: (tenantId: string, asked: Omit<Parameters<typeof client.requestRaise>[0], 'tenantId'>) =>
      client.requestRaise({ tenantId, ...asked }),
    listGrantedRaises: (tenantId: string, [from, until]: readonly [number, number], max: number) =>
      client.listGrantedRaises({ tenantId, from, until, max }),
    listPrices: (tenantId: string, after = 0) => client.listPrices({ tenantId, after }),
    collection: (name: string) => mongo.connection.useDb(database).collection(name),
    events: (tenantId: TenantId) =>
      [...events.values()].filter((found) => found.tenantId === tenantId).map(({ event }) => event),
    ready: () => service.ready?.(),
  };
}

export function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}
