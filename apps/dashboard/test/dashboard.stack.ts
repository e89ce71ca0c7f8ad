import { afterAll, beforeAll } from '@jest/globals';
import {
  dashboardService,
  type DashboardServiceDefinition,
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  identityRequests,
  identityService,
  type GatewayEvent,
} from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog, type ReadRecord, type RecordBatch } from '@tollkeeper/event-log';
import { createGrpcClient, type GrpcClient, grpcService } from '@tollkeeper/grpc';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { AppError, newId, provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig, type Metrics } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  createPeers,
  eventually,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';
import { createDashboard, dashboardConfig, type DashboardService } from '../src/index.ts';
import { createBudgetsStandIn } from './budgets.stand-in.ts';
import { createEnforcerStandIn } from './enforcer.stand-in.ts';

export const PARIS_TENANT = provenTenantId('ws_paris');
export const KATHMANDU_TENANT = provenTenantId('ws_kathmandu');
/** A key of secrets that are stored. */
const ENCRYPTION_KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
/** Has a time zone that the calendar does not know. */
export const JST_TENANT = provenTenantId('ws_jst');
/** The labels that workspaces track. */
const TRACKED = new Map<string, string[]>();
const TIMEZONES = new Map<string, string>([
  [PARIS_TENANT, 'Europe/Paris'],
  [KATHMANDU_TENANT, 'Asia/Kathmandu'],
  [JST_TENANT, 'JST'],
]);

/** What replicas have in common. */
interface Replicated {
  clock: { now: number };
  database: string;
  logDatabase: string;
}

/**
 * The dashboard on a real mongod and event log, with stand-ins for its peers over real gRPC. Every answer is
 * checked against its OpenAPI document.
 */
export function useDashboard(mongo: TestMongo, replicated?: Replicated) {
  const logs = testLogger();
  const { clock, database, logDatabase } = replicated ?? {
    clock: { now: Date.parse('2026-11-21T18:34:56.789Z') },
    database: mongo.newDatabase(),
    logDatabase: mongo.newDatabase(),
  };
  const budgets = createBudgetsStandIn(logs.logger);
  const enforcer = createEnforcerStandIn(logs.logger);
  const identity = createPeers(logs.logger, [identityStandIn()]);
  let metrics: Metrics;
  let eventLog: EventLog;
  let service: DashboardService;
  let client: GrpcClient<DashboardServiceDefinition>;
  let document: OpenApiDocument;

  async function start(): Promise<void> {
    metrics = createMetrics('dashboard');
    const { logger } = logs;
    eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
      logger,
      metrics,
    });
    await eventLog.start();
    await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
    service = createDashboard({
      config: loadConfig(dashboardConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        MONGODB_URI: mongo.uri,
        MONGODB_DATABASE: database,
        CALLER_TOKEN_SECRET,
        IDENTITY_GRPC: identity.address,
        BUDGETS_GRPC: budgets.address,
        ENFORCER_GRPC: enforcer.address,
        CHANNEL_ENCRYPTION_KEYS: ENCRYPTION_KEY,
        DESTINATION_ALLOW_CIDRS: '127.0.0.1/32',
      }),
      logger,
      metrics,
      eventLog,
      clock: () => clock.now,
    });
    await service.start();
    client = createGrpcClient(dashboardService, service.grpcAddress, {
      config: { CALLER_TOKEN_SECRET },
      deadlineMs: 60_000,
    });
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  }

  async function stop(): Promise<void> {
    await client.stop();
    await service.stop();
    await eventLog.stop();
  }

  async function sendAs(
    { tenantId, role }: { tenantId: TenantId; role: Role },
    method: 'delete' | 'get' | 'post' | 'put',
    path: string,
    body?: object | string,
  ): Promise<Response> {
    const token = await signCallerToken(CALLER_TOKEN_SECRET, 'dashboard', { userId: 'user_1', tenantId, role });
    const request = supertest(service.httpUrl)[method](path).set(CALLER_HEADER, token);
    if (typeof body === 'string') request.type('text/csv');
    const response = await (body === undefined ? request : request.send(body));
    const answered: unknown = response.status === 204 ? undefined : response.body;
    expectMatchesOpenApi(document, { method, path: path.split('?')[0]!, status: response.status, body: answered });
    return response;
  }

  const send = (tenantId: TenantId, method: 'get' | 'post', path: string, body?: object) =>
    sendAs({ tenantId, role: 'member' }, method, `/api/v1/dashboard${path}`, body);

  /** The answer to a member as it arrives, without a check against the document. */
  async function download(tenantId: TenantId, path: string, signal?: AbortSignal): Promise<globalThis.Response> {
    const token = await signCallerToken(CALLER_TOKEN_SECRET, 'dashboard', {
      ...{ userId: 'user_1', tenantId, role: 'member' },
    });
    return fetch(`${service.httpUrl}/api/v1/dashboard${path}`, {
      headers: { [CALLER_HEADER]: token },
      signal: signal ?? null,
    });
  }

  const appendValues = (values: { key: string; value: Buffer }[]) => eventLog.append(GATEWAY_EVENTS_TOPIC, values);

  /** Resolves once the dashboard has applied all records of the log. */
  async function caughtUp(): Promise<void> {
    await eventually(async () => {
      if ((await service.lag()) > 0) throw new Error('not all events are read');
    });
  }

  /** The dead letters of the topic. */
  async function deadLetters(): Promise<ReadRecord[]> {
    const letters: ReadRecord[] = [];
    const topic = `${GATEWAY_EVENTS_TOPIC}.dead`;
    await eventLog.ensureTopic({ name: topic, partitions: 1, retentionMs: 3_600_000 });
    const handler = {
      position: async () => null,
      handle: async ({ records }: RecordBatch) => void letters.push(...records),
    };
    const reader = eventLog.consumer({ group: newTenant(), topic, handler, maxRecords: 1000 });
    const [end = 0] = await reader.endOffsets();
    await reader.start();
    await eventually(() => {
      if (letters.length < end) throw new Error('not all dead letters are read');
    });
    await reader.stop();
    return letters;
  }

  beforeAll(async () => {
    await identity.start();
    await budgets.start();
    await enforcer.start();
    await start();
  });
  afterAll(async () => {
    await stop();
    await budgets.stop();
    await enforcer.stop();
    await identity.stop();
  });

  return {
    clock,
    logs,
    database,
    logDatabase,
    identityAddress: () => identity.address,
    budgets,
    get: (tenantId: TenantId, path: string) => send(tenantId, 'get', path),
    post: (tenantId: TenantId, path: string, body: object) => send(tenantId, 'post', path, body),
    sendAs,
    download,
    enforcer,
    appendValues,
    caughtUp,
    deadLetters,
    stopIdentity: () => identity.stop(),
    ready: () => service.ready?.(),
    listSettlements: (request: Parameters<typeof client.listSettlements>[0]) => client.listSettlements(request),
    metricOf: async (name: string) => (await metrics.registry.getSingleMetric(name)!.get()).values,
    stop,
    start,
    async restart() {
      await stop();
      await start();
    },
    append: (tenantId: TenantId, events: GatewayEvent[]) =>
      appendValues(events.map((event) => encode(tenantId, event))),
    /** Appends events and waits until the dashboard has read all of them. */
    async report(tenantId: TenantId, events: GatewayEvent[]) {
      await appendValues(events.map((event) => encode(tenantId, event)));
      await caughtUp();
    },
  };
}

export function encode(tenantId: TenantId, event: GatewayEvent, keyId?: string): { key: string; value: Buffer } {
  return encodeGatewayEvent({ tenantId, receivedAt: '2026-11-21T18:34:56.789Z', keyId, event });
}

/** Stands in for identity: workspaces in {@link TIMEZONES}, all others in UTC, and two agents with display names. */
function identityStandIn() {
  const agents = [
    { agentId: 'planner', displayName: 'The Planner' },
    { agentId: 'idle', displayName: 'Never Seen' },
  ];
  return grpcService(identityService, identityRequests, {
    resolveSession: async () => ({}),
    getWorkspace: async ({ tenantId }) => {
      if (tenantId === 'ws_gone') throw new AppError('not_found', 'No such workspace.');
      const timezone = TIMEZONES.get(tenantId) ?? 'UTC';
      const trackedLabels = TRACKED.get(tenantId) ?? [];
      return { workspace: { id: tenantId, slug: 'demo', name: 'Demo', timezone, trackedLabels } };
    },
    getAgents: async ({ agentIds }) => ({ agents: agents.filter(({ agentId }) => agentIds.includes(agentId)) }),
    registerAgents: async () => ({}),
  });
}

/** A new workspace that tracks these labels. */
export function newTenant(...tracked: string[]): TenantId {
  const tenantId = provenTenantId(newId('ws'));
  track(tenantId, tracked);
  return tenantId;
}

export function track(tenantId: TenantId, names: string[]): void {
  TRACKED.set(tenantId, names);
}

/** A new workspace with the time zone that tracks these labels. */
export function newTenantIn(timezone: string, ...tracked: string[]): TenantId {
  const tenantId = newTenant(...tracked);
  TIMEZONES.set(tenantId, timezone);
  return tenantId;
}

let sequence = 0;
const base = (type: string, time: string) => ({
  specversion: '1.0' as const,
  id: `e${++sequence}`,
  source: 'gw',
  type,
  time,
});

export function settled(time: string, amountMicros: number, data: Record<string, unknown> = {}): GatewayEvent {
  const event = base('spend.settled', time);
  const known = { settlement_id: `s-${event.id}`, run_id: 'run-1', agent_id: 'planner', amount_micros: amountMicros };
  return { ...event, data: { ...known, ...data } };
}

export function budgetBlocked(time: string, data: Record<string, unknown> = {}): GatewayEvent {
  const limits = { scope: 'agent', requested_micros: 5, spent_micros: 99, daily_budget_usd_micros: 100 };
  return { ...base('budget.blocked', time), data: { run_id: 'run-1', agent_id: 'planner', ...limits, ...data } };
}

export function thresholdReached(time: string, scopeId: string): GatewayEvent {
  const type = 'budget.threshold_reached';
  const data = {
    scope: 'agent',
    scope_id: scopeId,
    percent: 80,
    spent_micros: 81,
    daily_budget_usd_micros: 100,
  } as const;
  return { ...base(type, time), type, data };
}

export function unmetered(time: string, data: Record<string, unknown> = {}): GatewayEvent {
  const call = { call_id: 'c1', run_id: 'run-1', agent_id: 'planner', reason: 'no_usage' };
  return { ...base('call.unmetered', time), data: { ...call, ...data } };
}

export function guardBlocked(time: string, data: Record<string, unknown> = {}): GatewayEvent {
  const why = { guard: 'pii', reason: 'The prompt holds a card number' };
  return { ...base('guard.blocked', time), data: { run_id: 'run-1', agent_id: 'planner', ...why, ...data } };
}
