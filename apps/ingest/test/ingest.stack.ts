import { afterAll, beforeAll } from '@jest/globals';
import {
  budgetsRequests,
  budgetsService,
  type BudgetsServiceDefinition,
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  type GatewayEventRecord,
  identityRequests,
  identityService,
  type IdentityServiceDefinition,
  type Labels,
  type PriceMessage,
} from '@tollkeeper/contracts';
import { createMongoEventLog, type EventLog, type ReadRecord } from '@tollkeeper/event-log';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createLifecycle, createMetrics, loadConfig } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  createKeysStandIn,
  createPeers,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';
import { createIngest, ingestConfig } from '../src/index.ts';

export const EVENTS_PATH = '/api/v1/events';
export const ONE = 'application/cloudevents+json';
export const BATCH = 'application/cloudevents-batch+json';
export const NOW = Date.parse('2026-11-21T18:00:00.000Z');

export interface Post {
  /** Sent as `Authorization: Bearer …`. */
  apiKey?: string;
  type?: string;
  /** A string is sent as is. */
  body: unknown;
  headers?: Record<string, string>;
}

/**
 * The ingest service with the real event log on a real mongod, and real sockets on both sides. Every answer is checked
 * against the OpenAPI document. `wrapLog` wraps the log for the service, to make it fail or wait. `minFreeBytes` is the
 * disk space that the log leaves free.
 */
export function useIngest(
  mongo: Pick<TestMongo, 'uri' | 'newDatabase'>,
  wrapLog: (log: EventLog) => EventLog = (log) => log,
  environment: NodeJS.ProcessEnv = {},
  minFreeBytes?: number,
) {
  const logs = testLogger();
  const clock = { now: NOW };
  const issued = createKeysStandIn();
  const agents = createAgentsStandIn();
  const prices = createBudgetsStandIn();
  const keys = Object.assign(createPeers(logs.logger, [issued.service, agents.service, prices.service]), issued);
  const metrics = createMetrics('ingest');
  const database = connectMongo({ uri: mongo.uri, database: mongo.newDatabase(), logger: logs.logger });
  const log = createMongoEventLog({
    connection: database.connection,
    logger: logs.logger,
    metrics,
    ...(minFreeBytes !== undefined && { minFreeBytes }),
  });
  const stored = createLifecycle([database, log], logs.logger);
  const read: ReadRecord[] = [];
  let service: ReturnType<typeof createIngest>;
  let reader: ReturnType<EventLog['consumer']>;
  let document: OpenApiDocument;

  beforeAll(async () => {
    await keys.start();
    await stored.start();
    service = createIngest({
      config: loadConfig(ingestConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        OTLP_PORT: '0',
        KEYS_GRPC: keys.address,
        IDENTITY_GRPC: keys.address,
        BUDGETS_GRPC: keys.address,
        CALLER_TOKEN_SECRET,
        ...environment,
      }),
      logger: logs.logger,
      metrics,
      eventLog: wrapLog(log),
      clock: () => clock.now,
      now: () => clock.now,
    });
    await service.start();
    reader = log.consumer({
      group: 'test',
      topic: GATEWAY_EVENTS_TOPIC,
      maxRecords: 1000,
      handler: { position: async () => null, handle: async ({ records }) => void read.push(...records) },
    });
    await reader.start();
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(async () => {
    await reader.stop();
    await service.stop();
    await stored.stop();
    await keys.stop();
  });

  async function post({ apiKey, type = ONE, body, headers = {} }: Post): Promise<Response> {
    const request = supertest(service.httpUrl).post(EVENTS_PATH).set(headers).type(type);
    if (apiKey !== undefined) request.set('authorization', `Bearer ${apiKey}`);
    const response = await request.send(typeof body === 'string' ? body : JSON.stringify(body));
    const { status, body: answer } = response as { status: number; body: unknown };
    expectMatchesOpenApi(document, { method: 'POST', path: EVENTS_PATH, status, body: answer });
    return response;
  }

  return {
    keys,
    agents,
    prices,
    clock,
    logs,
    metrics,
    post,
    url: () => service.httpUrl,
    grpcAddress: () => service.grpcAddress,
    /** Checks an answer against the OpenAPI document. */
    expectDocumented: (path: string, status: number, body: unknown) =>
      expectMatchesOpenApi(document, { method: 'POST', path, status, body }),
    /** All events of the workspace in the log so far, in order. */
    logged: (tenantId: TenantId): GatewayEventRecord[] =>
      read.filter(({ key }) => key === tenantId).map(({ value }) => decodeGatewayEvent(value)),
  };
}

/** A stand-in for identity that knows the labels of agents. */
function createAgentsStandIn() {
  const labels = new Map<string, Labels>();
  const state = { down: false };
  const unused = () => Promise.reject(new AppError('internal', 'Not a call of ingest'));
  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    async getAgents({ tenantId, agentIds }) {
      if (state.down) throw new AppError('internal', 'The identity service failed.');
      const known = agentIds.filter((agentId) => labels.has(`${tenantId}/${agentId}`));
      return {
        agents: known.map((agentId) => ({ agentId, labels: { ...labels.get(`${tenantId}/${agentId}`) } })),
      };
    },
    resolveSession: unused,
    getWorkspace: unused,
    registerAgents: unused,
  };
  return {
    service: grpcService(identityService, identityRequests, handlers),
    state,
    setLabels: (tenantId: TenantId, agentId: string, set: Labels) => labels.set(`${tenantId}/${agentId}`, set),
  };
}

/** A stand-in for budgets that knows the plans and the prices of workspaces, and answers two prices on a page. */
function createBudgetsStandIn() {
  const set = new Map<TenantId, PriceMessage[]>();
  const state = { down: false, asked: 0, askedForPlans: 0 };
  const plans = ['gold'];
  const unused = () => Promise.reject(new AppError('internal', 'Not a call of ingest'));
  const handlers: UnaryHandlers<BudgetsServiceDefinition> = {
    async listPrices({ tenantId, after }) {
      state.asked += 1;
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      const all = set.get(provenTenantId(tenantId)) ?? [];
      const end = after + 2;
      return { prices: all.slice(after, end), ...(all.length > end && { nextAfter: end }) };
    },
    async getBudgets({ planKeys }) {
      state.askedForPlans += 1;
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      const found = plans.filter((planKey) => planKeys.includes(planKey));
      return { agents: [], plans: found.map((planKey) => ({ planKey, dailyBudgetUsdMicros: 0, isActive: false })) };
    },
    listBudgets: unused,
    listActiveBudgets: unused,
    requestRaise: unused,
    listGrantedRaises: unused,
  };
  return {
    service: grpcService(budgetsService, budgetsRequests, handlers),
    state,
    /** The plans of all workspaces. */
    plans,
    set: (tenantId: TenantId, prices: PriceMessage[]) => set.set(tenantId, prices),
  };
}

/** A settlement that is valid at {@link NOW}. */
export function spend(fields: Record<string, unknown> = {}, data: Record<string, unknown> = {}) {
  return {
    specversion: '1.0',
    id: newId('evt'),
    source: '/gateways/eu-1',
    type: 'spend.settled',
    time: '2026-11-21T17:59:00.000Z',
    data: { settlement_id: newId('stl'), run_id: 'run-1', agent_id: 'agent-1', amount_micros: 1500, ...data },
    ...fields,
  };
}
