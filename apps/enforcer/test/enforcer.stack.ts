import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type AuditReader, createAuditReader } from '@tollkeeper/audit-trail/testing';
import {
  decodeGatewayEvent,
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEvent,
  type GatewayEventRecord,
  type Labels,
  type ReportMapping,
} from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { AppError, newId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig, type Metrics } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  createKeysStandIn,
  createPeers,
  eventually,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest from 'supertest';
import { createEnforcer, enforcerConfig, type EnforcerService } from '../src/index.ts';
import { CONSUMER_GROUP } from '../src/consumers/gateway-events.consumer.ts';
import { createBudgetsStandIn } from './budgets.stand-in.ts';
import { createDashboardStandIn } from './dashboard.stand-in.ts';
import { createGrpcCaller, type Rpc } from './grpc.caller.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';

export const RESERVATIONS = '/api/v1/reservations';
export const LIMITS = '/api/v1/limits';
const DAY_MS = 86_400_000;
/** Minimum time of an append, so that an answer that does not wait for it comes first. */
const APPEND_MS = 20;
/** Time after which an append to a hanging log fails. */
const HANG_MS = 1_500;

export type Body = Record<string, unknown>;

export interface Answer {
  status: number;
  body: Body;
  retryAfter: string | undefined;
}

export interface CallOptions {
  body?: Body;
  /** The role of a person with a session, instead of the key. */
  role?: Role;
  /** Sent instead of the workspace's own key. */
  apiKey?: string;
  /** Returns a 503 instead of trying again. */
  once?: boolean;
  replica?: number;
}

/**
 * The service on a real mongod and event log, with stand-ins for identity, budgets and keys behind real gRPC. Every
 * answer is checked against the OpenAPI document. The clock is stopped unless a suite moves it, and is reset after each
 * test. The monotonic clock follows it, and advances when gateways wait after a 503.
 */
export function useEnforcer(mongo: TestMongo, { logMongo = mongo, replicas = 1 } = {}) {
  const logs = testLogger();
  const { logger } = logs;
  // Close to the real time, because MongoDB expires journal entries by its own clock.
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
  const clock = { now: noon };
  let waitedMs = 0;
  const database = mongo.newDatabase();
  const logDatabase = logMongo.newDatabase();
  const budgets = createBudgetsStandIn(logger);
  const identity = createIdentityStandIn(logger);
  const dashboard = createDashboardStandIn(logger);
  const issued = createKeysStandIn();
  const keys = Object.assign(createPeers(logger, [issued.service]), issued);
  /** `stalls` has the workspaces whose appends wait, and what they wait for. */
  const log = {
    down: false,
    hangs: false,
    stalls: new Map<TenantId, Promise<void>>(),
    appends: 0,
    /** Appends while it was down. */
    refused: 0,
    appended: [] as GatewayEventRecord[],
  };
  const running: Replica[] = [];
  let document: OpenApiDocument;

  async function startReplica(): Promise<Replica> {
    const metrics = createMetrics('enforcer');
    const eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: logMongo.uri, EVENT_LOG_DATABASE: logDatabase },
      logger,
      metrics,
    });
    await eventLog.start();
    await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
    const config = loadConfig(enforcerConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      MONGODB_URI: mongo.uri,
      MONGODB_DATABASE: database,
      CALLER_TOKEN_SECRET,
      KEYS_GRPC: keys.address,
      BUDGETS_GRPC: budgets.address,
      IDENTITY_GRPC: identity.address,
      DASHBOARD_GRPC: dashboard.address,
    });
    const time = { clock: () => clock.now, now: () => clock.now + waitedMs };
    const service = createEnforcer({ config, logger, metrics, eventLog: watched(eventLog), ...time });
    await service.start();
    const audit = createAuditReader(eventLog);
    await audit.start();
    return { service, eventLog, metrics, audit, grpc: createGrpcCaller(service.grpcAddress) };
  }

  /** Wraps the log so that tests can break it and see its contents. */
  function watched(eventLog: EventLog): EventLog {
    return {
      ...eventLog,
      async append(topic, records) {
        if (log.down) {
          log.refused += 1;
          throw new AppError('service_unavailable', 'The log is down.', { retryAfterSeconds: 1 });
        }
        if (log.hangs) await new Promise((resolve) => setTimeout(resolve, HANG_MS));
        if (log.hangs) throw new AppError('service_unavailable', 'The log hangs.', { retryAfterSeconds: 1 });
        for (const { key } of records) await log.stalls.get(key as TenantId);
        log.appends += 1;
        await Promise.all([eventLog.append(topic, records), new Promise((resolve) => setTimeout(resolve, APPEND_MS))]);
        if (topic !== GATEWAY_EVENTS_TOPIC) return;
        for (const { value } of records) {
          const record = decodeGatewayEvent(value);
          log.appended.push(record);
          dashboard.add(record);
        }
      },
    };
  }

  async function stopReplica(replica: Replica): Promise<void> {
    replica.grpc.close();
    await replica.service.stop();
    await replica.audit.stop();
    await replica.eventLog.stop();
  }

  beforeAll(async () => {
    await Promise.all([budgets.start(), identity.start(), dashboard.start(), keys.start()]);
    for (let i = 0; i < replicas; i += 1) running.push(await startReplica());
    document = (await supertest(running[0]!.service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  });
  afterEach(() => {
    clock.now = noon;
    Object.assign(log, { down: false, hangs: false });
    budgets.state.down = false;
    identity.state.down = false;
    dashboard.state.down = false;
  });
  afterAll(async () => {
    await Promise.all(running.map(stopReplica));
    await Promise.all([budgets.stop(), identity.stop(), dashboard.stop(), keys.stop()]);
  });

  /** Advances the monotonic clock, so that the service asks a failed peer again. */
  function passRetryAfter(seconds = 1): void {
    waitedMs += seconds * 1_000;
  }

  /** Resolves when all spend in the log is posted. */
  async function posted(): Promise<void> {
    const offsets = mongo.connection
      .getClient()
      .db(database)
      .collection<{ _id: string; nextOffset: number }>('consumer_offsets');
    const consumer = running[0]!.eventLog.consumer({
      group: CONSUMER_GROUP,
      topic: GATEWAY_EVENTS_TOPIC,
      maxRecords: 1,
      handler: {
        position: async (topic, partition) =>
          (await offsets.findOne({ _id: `${CONSUMER_GROUP}/${topic}/${partition}` }))?.nextOffset ?? null,
        handle: async () => {},
      },
    });
    await eventually(async () => {
      const lag = await consumer.lag();
      if (lag > 0) throw new Error(`${lag} records wait`);
    });
  }

  async function report(
    tenantId: TenantId,
    { at, ...event }: { id: string; type: string; at: number; data: Body },
  ): Promise<Buffer> {
    const made = { specversion: '1.0' as const, source: '/gateways/eu-1', time: new Date(at).toISOString(), ...event };
    const record = encodeGatewayEvent({ tenantId, receivedAt: new Date(clock.now).toISOString(), event: made });
    await running[0]!.eventLog.append(GATEWAY_EVENTS_TOPIC, [record]);
    return record.value;
  }

  async function callOnce(
    tenant: { tenantId: TenantId; apiKey: string },
    method: 'get' | 'post',
    path: string,
    { body, role, apiKey = tenant.apiKey, replica = 0 }: CallOptions,
  ): Promise<Answer> {
    const request = supertest(running[replica]!.service.httpUrl)[method](path);
    if (role === undefined) request.set('authorization', `Bearer ${apiKey}`);
    else {
      const caller = { userId: 'user_1', tenantId: tenant.tenantId, role };
      request.set(CALLER_HEADER, await signCallerToken(CALLER_TOKEN_SECRET, 'enforcer', caller));
    }
    const response = await (body === undefined ? request : request.send(body));
    const answered = { status: response.status, body: response.body as Body };
    expectMatchesOpenApi(document, { method: method.toUpperCase(), path, ...answered });
    return { ...answered, retryAfter: response.headers['retry-after'] as string | undefined };
  }

  /** Its key pins these labels, and reads reports by this mapping. */
  function newWorkspace(pinned: Labels = {}, reports: Partial<ReportMapping> = {}) {
    const tenant = issued.issue('developer', pinned, reports);
    const { tenantId, apiKey } = tenant;

    /** Retries after a 503, as gateways do, but without the wait. */
    async function call(method: 'get' | 'post', path: string, options: CallOptions = {}): Promise<Answer> {
      if (options.once === true) return callOnce(tenant, method, path, options);
      return eventually(async () => {
        const answer = await callOnce(tenant, method, path, options);
        if (answer.status !== 503) return answer;
        passRetryAfter(Number(answer.retryAfter ?? 1));
        throw new Error(`503 for ${method} ${path}: ${JSON.stringify(answer.body)}`);
      });
    }
    /** Takes an amount, or several fields. */
    const requestOf = (asked: number | Body): Body => ({
      request_id: newId('req'),
      agent_id: 'planner',
      run_id: 'run-1',
      ...(typeof asked === 'number' ? { amount_micros: asked } : asked),
    });
    const act = (id: string, action: string, options?: CallOptions) =>
      call('post', `${RESERVATIONS}/${id}:${action}`, options);
    /** The limits as members get them. */
    const limits = async (query = '', options: CallOptions = {}) =>
      (await call('get', `${LIMITS}${query}`, { role: 'member', ...options })).body as { day: Body; items: Body[] };

    return {
      ...tenant,
      call,
      audited: (count: number) => running[0]!.audit.records(tenantId, count),
      reserve: (asked: number | Body, options: CallOptions = {}) =>
        call('post', RESERVATIONS, { body: requestOf(asked), ...options }),
      /** The reservation of a call that must be allowed. */
      async granted(asked: number | Body, options: CallOptions = {}): Promise<Body & { id: string }> {
        const { status, body } = await call('post', RESERVATIONS, { body: requestOf(asked), ...options });
        if (status !== 201) throw new Error(`expected a grant, got ${status} ${JSON.stringify(body)}`);
        return body['reservation'] as Body & { id: string };
      },
      read: async (id: string, options?: CallOptions) => (await call('get', `${RESERVATIONS}/${id}`, options)).body,
      settle: (id: string, amount: number, settlementId: string = newId('stl'), options: CallOptions = {}) =>
        act(id, 'settle', { body: { settlement_id: settlementId, amount_micros: amount }, ...options }),
      release: (id: string, options?: CallOptions) => act(id, 'release', options),
      extend: (id: string, ttlSeconds: number, options?: CallOptions) =>
        act(id, 'extend', { body: { ttl_seconds: ttlSeconds }, ...options }),
      limits,
      /** The limit of the workspace. */
      limit: async (options: CallOptions = {}): Promise<Body> => (await limits('', options)).items[0]!,
      rpc: (rpc: Rpc, request: object, replica = 0) => running[replica]!.grpc.call(rpc, request, apiKey),
      /** A stream of Envoy's access log. */
      openLog: () => running[0]!.grpc.openLog(apiKey),
      /** Appends settled spend, as ingest does. By default, the settlement id is the id of the event. */
      async spend(data: Body & { amount_micros: number }, { ago = 0 } = {}): Promise<void> {
        const id = newId('evt');
        const settled = { settlement_id: id, run_id: 'run-1', agent_id: 'planner', ...data };
        const value = await report(tenantId, { id, type: 'spend.settled', at: clock.now - ago, data: settled });
        dashboard.add(decodeGatewayEvent(value));
      },
      /** Appends that an attempt of a call failed, as ingest does. */
      async fail(requestId: string): Promise<void> {
        const data = { request_id: requestId, run_id: 'run-1', agent_id: 'planner' };
        await report(tenantId, { id: newId('evt'), type: 'call.failed', at: clock.now, data });
      },
      /** The events of the workspace that the service has appended to the log. */
      events: (type?: string): GatewayEvent[] =>
        log.appended
          .filter((record) => record.tenantId === tenantId && (type === undefined || record.event.type === type))
          .map(({ event }) => event),
    };
  }

  /** A workspace with this daily budget. */
  function limitedTo(micros: number, ...given: Parameters<typeof newWorkspace>) {
    const workspace = newWorkspace(...given);
    budgets.setWorkspace(workspace.tenantId, micros);
    return workspace;
  }

  return {
    budgets,
    identity,
    dashboard,
    keys,
    clock,
    log,
    newWorkspace,
    limitedTo,
    passRetryAfter,
    posted,
    /** Where our services and gateways call over gRPC. */
    grpcAddress: (replica = 0) => running[replica]!.service.grpcAddress,
    logs,
    /** The name of its database. */
    database,
    httpUrl: () => running[0]!.service.httpUrl,
    /** A client without a key. */
    grpc: {
      call: (rpc: Rpc, request: object) => running[0]!.grpc.call(rpc, request),
      openLog: () => running[0]!.grpc.openLog(),
    },
    ready: async (replica = 0) => running[replica]!.service.ready?.(),
    /** The stop completes all reports first. */
    async restart(replica = 0): Promise<void> {
      await stopReplica(running[replica]!);
      running[replica] = await startReplica();
    },
    /** The sum of a counter over the replicas, for one label if given. */
    async counted(name: string, label?: string): Promise<number> {
      const all = await Promise.all(running.map(({ metrics }) => metrics.registry.getSingleMetric(name)!.get()));
      const values = all.flatMap((metric) => metric.values);
      return values
        .filter(({ labels }) => label === undefined || Object.values(labels).includes(label))
        .reduce((sum, { value }) => sum + value, 0);
    },
  };
}

interface Replica {
  service: EnforcerService;
  eventLog: EventLog;
  metrics: Metrics;
  audit: AuditReader;
  grpc: ReturnType<typeof createGrpcCaller>;
}
