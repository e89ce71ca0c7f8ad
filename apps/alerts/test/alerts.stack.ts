import { afterAll, beforeAll } from '@jest/globals';
import { type AuditReader, createAuditReader } from '@tollkeeper/audit-trail/testing';
import {
  type ChannelRecord,
  type ChannelSummary,
  decodeNotification,
  DELIVERIES_TOPIC,
  DELIVERIES_TOPIC_OPTIONS,
  type DeliveryRecord,
  encodeChannelRecord,
  encodeDelivery,
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEvent,
  NOTIFICATIONS_TOPIC,
  NOTIFICATIONS_TOPIC_OPTIONS,
  type ReadNotification,
} from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog, type LogConsumer } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { newId, provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig, type Metrics } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  eventually,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';
import { alertsConfig, type AlertsService, createAlerts } from '../src/index.ts';
import { createPeersStandIn } from './peers.stand-in.ts';

const ALERTS_PATH = '/api/v1/alerts';

export type Method = 'get' | 'post' | 'patch' | 'delete';
export type Body = Record<string, unknown>;

export interface CallOptions {
  role?: Role;
  userId?: string;
  /** Sent instead of a caller token; null sends none. */
  token?: string | null;
  contentType?: string;
  body?: unknown;
}

/**
 * The alerts service on a real mongod and event log, with stand-ins for identity and notifier behind real gRPC. Every
 * answer is checked against the OpenAPI document.
 */
export function useAlerts(
  mongo: TestMongo,
  environment: NodeJS.ProcessEnv = {},
  wrapLog: (log: EventLog) => EventLog = (log) => log,
) {
  const logs = testLogger();
  const { logger } = logs;
  const clock = { now: Date.parse('2026-11-21T18:00:00.000Z') };
  const database = mongo.newDatabase();
  const logDatabase = mongo.newDatabase();
  const peers = createPeersStandIn(logger);
  const notified: ReadNotification[] = [];
  let metrics: Metrics;
  let eventLog: EventLog;
  let service: AlertsService;
  let reader: LogConsumer;
  let audit: AuditReader;
  let document: OpenApiDocument;

  const configOf = (overrides: NodeJS.ProcessEnv) =>
    loadConfig(alertsConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      MONGODB_URI: mongo.uri,
      MONGODB_DATABASE: database,
      CALLER_TOKEN_SECRET,
      IDENTITY_GRPC: peers.address,
      BUDGETS_GRPC: peers.address,
      NOTIFIER_GRPC: peers.address,
      EVALUATION_INTERVAL_MS: '50',
      DISPATCH_INTERVAL_MS: '50',
      ...environment,
      ...overrides,
    });

  async function start(overrides: NodeJS.ProcessEnv = {}): Promise<void> {
    metrics = createMetrics('alerts');
    eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
      logger,
      metrics,
    });
    await eventLog.start();
    for (const topic of [GATEWAY_EVENTS_TOPIC_OPTIONS, NOTIFICATIONS_TOPIC_OPTIONS, DELIVERIES_TOPIC_OPTIONS]) {
      await eventLog.ensureTopic(topic);
    }
    const config = configOf(overrides);
    service = createAlerts({ config, logger, metrics, eventLog: wrapLog(eventLog), clock: () => clock.now });
    try {
      await service.start();
    } catch (error) {
      await eventLog.stop();
      throw error;
    }
    reader = readNotifications(eventLog, notified);
    await reader.start();
    audit = createAuditReader(eventLog);
    await audit.start();
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  }

  async function stop(): Promise<void> {
    await reader.stop();
    await audit.stop();
    await service.stop();
    await eventLog.stop();
  }

  async function unchecked(
    method: Method,
    tenantId: TenantId,
    below: string,
    options: CallOptions = {},
  ): Promise<Response> {
    const { role = 'admin', userId = 'user_1', body, contentType = 'application/json' } = options;
    const { token = await signCallerToken(CALLER_TOKEN_SECRET, 'alerts', { userId, tenantId, role }) } = options;
    const request = supertest(service.httpUrl)[method](`${ALERTS_PATH}${below}`);
    if (token !== null) request.set(CALLER_HEADER, token);
    if (body !== undefined) request.set('content-type', contentType).send(JSON.stringify(body));
    return request;
  }

  async function call(...args: Parameters<typeof unchecked>): Promise<Response> {
    const [method, , below] = args;
    const response = await unchecked(...args);
    const path = `${ALERTS_PATH}${below}`;
    const answered = response.status === 204 ? undefined : (response.body as unknown);
    expectMatchesOpenApi(document, { method, path, status: response.status, body: answered });
    return response;
  }

  /** The body of an answer, which must have the status. */
  async function expecting(status: number, ...args: Parameters<typeof call>): Promise<Body> {
    const response = await call(...args);
    if (response.status !== status) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
    return response.body as Body;
  }

  const createRule = (tenantId: TenantId, changes: Body = {}) =>
    expecting(201, 'post', tenantId, '/rules', { body: ruleBody(tenantId, changes) }) as Promise<Body & { id: string }>;

  /** Creates many rules in one workspace that differ only in their ids, and returns the ids. */
  async function createRules(count: number, tenantId: TenantId, changes: Body): Promise<string[]> {
    const { id } = await createRule(tenantId, changes);
    // Written to the database, since creating each over HTTP would take minutes.
    const rules = mongo.connection.useDb(database).collection<{ _id: string }>('rules');
    const rule = await rules.findOne({ _id: id });
    const copies = Array.from({ length: count - 1 }, () => ({ ...rule, _id: newId('rule') }));
    await rules.insertMany(copies);
    // A change through the service makes it read the new rules.
    const body = { description: 'The first of many.' };
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { contentType: 'application/merge-patch+json', body });
    return [id, ...copies.map((copy) => copy._id)];
  }

  const append = (tenantId: TenantId, ...events: GatewayEvent[]) =>
    eventLog.append(
      GATEWAY_EVENTS_TOPIC,
      events.map((event) => encode(tenantId, event, clock.now)),
    );

  const reportChannel = (record: ChannelRecord) => eventLog.append(DELIVERIES_TOPIC, [encodeChannelRecord(record)]);
  const reportChange = (tenantId: TenantId, channel: ChannelSummary) =>
    reportChannel({ kind: 'channel.changed', tenantId, channel });
  const reportDeletion = (tenantId: TenantId, channelId: string) =>
    reportChannel({ kind: 'channel.deleted', tenantId, channelId });

  beforeAll(async () => {
    await peers.start();
    await start();
  });
  afterAll(async () => {
    await stop();
    await peers.stop();
  });

  return {
    clock,
    logs,
    peers,
    audited: (tenantId: TenantId, count: number) => audit.records(tenantId, count),
    notified,
    database,
    logDatabase,
    call,
    expecting,
    append,
    createRule,
    createRules,
    unchecked,
    createChannel: async (tenantId: TenantId, fields: Partial<ChannelSummary> = {}) =>
      peers.addChannel(tenantId, fields),
    async changeChannel(tenantId: TenantId, channelId: string, change: Partial<ChannelSummary>) {
      const before = peers.channels.get(channelId)!;
      const channel = { ...before, ...change, revision: before.revision + 1 };
      peers.channels.set(channelId, channel);
      await reportChange(tenantId, channel);
    },
    async deleteChannel(tenantId: TenantId, channelId: string) {
      peers.channels.delete(channelId);
      await reportDeletion(tenantId, channelId);
    },
    reportChange,
    reportDeletion,
    alerts: async (tenantId: TenantId) => (await expecting(200, 'get', tenantId, '')).items as AlertBody[],
    evaluations: async (tenantId: TenantId, ruleId: string) =>
      (await expecting(200, 'get', tenantId, `/rules/${ruleId}/evaluations`)).items as Body[],
    report: (delivery: DeliveryRecord) => eventLog.append(DELIVERIES_TOPIC, [encodeDelivery(delivery)]),
    appendRecord: (topic: string, key: string, value: Buffer) => eventLog.append(topic, [{ key, value }]),
    metric: async (name: string) => (await metrics.registry.getSingleMetric(name)!.get()).values,
    /** Waits until everything in the log is evaluated and stored. */
    settled: () =>
      eventually(async () => {
        const lag = await service.lag();
        if (lag > 0) throw new Error(`${lag} records are not evaluated`);
      }),
    /** Starts another process of the service on the same database and log. */
    async startReplica() {
      const replica = createAlerts({
        config: configOf({}),
        logger,
        metrics: createMetrics('replica'),
        eventLog,
        clock: () => clock.now,
      });
      await replica.start();
      return replica;
    },
    ready: () => service.ready?.(),
    impaired: () => service.impaired?.(),
    stop,
    start,
    async restart(overrides: NodeJS.ProcessEnv = {}) {
      await stop();
      await start(overrides);
    },
  };
}

export type AlertBody = Body & { id: string; status: string; deliveries: Body[] };

/** Reads the notifications from the beginning, like the notifier. */
function readNotifications(eventLog: EventLog, notified: ReadNotification[]): LogConsumer {
  notified.length = 0;
  return eventLog.consumer({
    group: newId('run'),
    topic: NOTIFICATIONS_TOPIC,
    maxRecords: 100,
    handler: {
      position: async () => null,
      async handle({ records }) {
        notified.push(...records.map(({ value }) => decodeNotification(value)));
      },
    },
  });
}

export function ruleBody(tenantId: TenantId, changes: Body = {}): Body {
  return {
    name: 'Blocked calls',
    severity: 'high',
    scope_type: 'workspace',
    scope_id: tenantId,
    rule_kind: 'event_count_gte',
    rule_config: { window_seconds: 60, threshold: 3, filters: { event_types: ['budget.blocked'] } },
    ...changes,
  };
}

export function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}

let sequence = 0;

/** An event of any type; ids never repeat. */
export function event(time: number, type = 'budget.blocked', data: Record<string, unknown> = {}): GatewayEvent {
  const known = { run_id: 'run-1', agent_id: 'agent-1' };
  const blocked = { scope: 'agent', requested_micros: 5, spent_micros: 99, daily_budget_usd_micros: 100 };
  return {
    specversion: '1.0',
    id: `e${++sequence}`,
    source: 'gw',
    type,
    time: new Date(time).toISOString(),
    data: { ...known, ...(type === 'budget.blocked' && blocked), ...data },
  };
}

function encode(tenantId: TenantId, gatewayEvent: GatewayEvent, receivedAt: number) {
  return encodeGatewayEvent({ tenantId, event: gatewayEvent, receivedAt: new Date(receivedAt).toISOString() });
}
