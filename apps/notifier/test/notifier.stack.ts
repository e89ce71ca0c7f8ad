import { afterAll, beforeAll, expect } from '@jest/globals';
import { type AuditReader, createAuditReader } from '@tollkeeper/audit-trail/testing';
import {
  AUDIT_TOPIC_OPTIONS,
  type ChannelRecord,
  decodeNotifierRecord,
  DELIVERIES_TOPIC,
  DELIVERIES_TOPIC_OPTIONS,
  encodeNotification,
  type NotificationRecord,
  NOTIFICATIONS_TOPIC,
  NOTIFICATIONS_TOPIC_OPTIONS,
  type NotifierRecord,
  notifierService,
  type NotifierServiceDefinition,
  type ReadDelivery,
} from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog, type LogConsumer } from '@tollkeeper/event-log';
import { createGrpcClient, type GrpcClient } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig, type Metrics, renderMetrics } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET, eventually, testLogger, type TestMongo } from '@tollkeeper/testing';
import { type Authority, trustedAuthority } from '@tollkeeper/testing/authority';
import { createNotifier, notifierConfig, type NotifierService } from '../src/index.ts';
import type { DeliveryDocument } from '../src/store/delivery.document.ts';
import { createChannelApi, type TestChannel } from './channel.api.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';
import { alertRecord, notification, NOW } from './notification.builder.ts';
import { type Answer, type Receiver, startReceiver } from './receiver.ts';

export const PUBLIC_URL = 'https://tollkeeper.example.com';
export const KEY_A = `a:${Buffer.alloc(32, 1).toString('base64')}`;
export const KEY_B = `b:${Buffer.alloc(32, 2).toString('base64')}`;

export interface StackOptions {
  environment?: NodeJS.ProcessEnv;
  timeoutMs?: number;
  /**
   * Stopped unless the test moves it. MongoDB's real clock also ends holds, so tests of holds start with the real time.
   */
  clock?: { now: number };
  wrapLog?: (log: EventLog) => EventLog;
}

/** The notifier on a real mongod and event log, with real HTTPS receivers and identity over real gRPC. */
export function useNotifier(
  mongo: TestMongo,
  { environment = {}, timeoutMs, clock = { now: NOW }, wrapLog = (log) => log }: StackOptions = {},
) {
  const logs = testLogger();
  /** The addresses of destinations' names; all other names are on loopback. */
  const names = new Map<string, () => string[]>();
  const identity = createIdentityStandIn(logs.logger);
  const database = mongo.newDatabase();
  const logDatabase = mongo.newDatabase();
  const receivers: Receiver[] = [];
  const outcomes: ReadDelivery[] = [];
  const reported: ChannelRecord[] = [];
  let authority: Authority;
  let metrics: Metrics;
  let eventLog: EventLog;
  let reader: LogConsumer;
  let audit: AuditReader;
  let service: NotifierService;
  let client: GrpcClient<NotifierServiceDefinition>;

  /** Creates another replica. */
  function create(own = createMetrics('notifier'), overrides: NodeJS.ProcessEnv = {}): NotifierService {
    return createNotifier({
      config: loadConfig(notifierConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        MONGODB_URI: mongo.uri,
        MONGODB_DATABASE: database,
        CALLER_TOKEN_SECRET,
        IDENTITY_GRPC: identity.address,
        CHANNEL_ENCRYPTION_KEYS: KEY_A,
        PUBLIC_URL,
        DESTINATION_ALLOW_CIDRS: '127.0.0.1/32',
        POLL_INTERVAL_MS: '20',
        ...environment,
        ...overrides,
      }),
      logger: logs.logger,
      metrics: own,
      eventLog: wrapLog(eventLog),
      clock: () => clock.now,
      resolveName: async (hostname) => names.get(hostname)?.() ?? ['127.0.0.1'],
      // A busy machine takes its time.
      linkTimeoutMs: 20_000,
      mailIntervalMs: 20,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  async function start(overrides: NodeJS.ProcessEnv = {}): Promise<void> {
    metrics = createMetrics('notifier');
    service = create(metrics, overrides);
    await service.start();
    client = createGrpcClient(notifierService, service.grpcAddress, {
      config: { CALLER_TOKEN_SECRET },
      deadlineMs: 20_000,
    });
  }

  function take(record: NotifierRecord): void {
    switch (record.kind) {
      case 'delivery':
        return void outcomes.push(record.delivery);
      case 'channel.changed':
      case 'channel.deleted':
        return void reported.push(record);
      case 'other':
    }
  }

  async function stop(): Promise<void> {
    await client.stop();
    await service.stop();
  }

  beforeAll(async () => {
    authority = await trustedAuthority();
    await identity.start();
    eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
      logger: logs.logger,
      metrics: createMetrics('event-log'),
    });
    await eventLog.start();
    for (const topic of [NOTIFICATIONS_TOPIC_OPTIONS, DELIVERIES_TOPIC_OPTIONS, AUDIT_TOPIC_OPTIONS]) {
      await eventLog.ensureTopic(topic);
    }
    reader = eventLog.consumer({
      group: 'test',
      topic: DELIVERIES_TOPIC,
      maxRecords: 1000,
      handler: {
        position: async () => null,
        handle: async ({ records }) => {
          for (const { value } of records) take(decodeNotifierRecord(value));
        },
      },
    });
    await reader.start();
    audit = createAuditReader(eventLog);
    await audit.start();
    await start();
  });
  afterAll(async () => {
    for (const receiver of receivers) await receiver.stop();
    await stop();
    await reader.stop();
    await audit.stop();
    await eventLog.stop();
    await identity.stop();
  });

  const append = (notifications: NotificationRecord[]) =>
    eventLog.append(NOTIFICATIONS_TOPIC, notifications.map(encodeNotification));

  /** All reports to alerts about a notification, by sequence. */
  const outcomesOf = ({ notificationId }: NotificationRecord): ReadDelivery[] =>
    outcomes
      .filter((record) => record.notificationId === notificationId)
      .toSorted((one, other) => one.sequence - other.sequence);

  const channels = () =>
    mongo.connection.useDb(database).collection<Record<string, unknown> & { _id: string }>('channels');
  const deliveries = () =>
    mongo.connection
      .useDb(database)
      .collection<Pick<DeliveryDocument, '_id' | 'attempts' | 'nextAttemptAt' | 'lease'>>('deliveries');

  return {
    ...createChannelApi(() => service.httpUrl),
    ...{ create, logs, clock, names, identity, append, outcomesOf, deliveries, start, stop },
    command: (command: object) => mongo.connection.useDb(database).db!.command(command),
    channels,
    client: () => client,
    database,
    audited: (tenantId: TenantId, count: number) => audit.records(tenantId, count),
    /** All reports to alerts about the channels of a workspace. */
    reportedOf: (tenantId: TenantId) => reported.filter((record) => record.tenantId === tenantId),
    ready: () => service.ready?.(),
    appendValues: (values: { key: string; value: Buffer }[]) => eventLog.append(NOTIFICATIONS_TOPIC, values),
    /** Resolves once the notification is queued for delivery. */
    queued: ({ notificationId: _id }: NotificationRecord) =>
      eventually(async () => expect(await deliveries().countDocuments({ _id })).toBe(1)),
    metricsText: () => renderMetrics([metrics.registry]),
    async restart(overrides: NodeJS.ProcessEnv = {}) {
      await stop();
      await start(overrides);
    },
    async receiver(otherwise?: Answer): Promise<Receiver> {
      const receiver = await startReceiver(authority, otherwise);
      receivers.push(receiver);
      return receiver;
    },
    /** Appends a notification about a new alert to the channel. */
    async notify({ tenantId, id, type }: TestChannel, fields: Partial<NotificationRecord> = {}) {
      const alert = alertRecord({ tenant_id: tenantId });
      const sent = notification({ tenantId, channelId: id, channelType: type, alert, ...fields });
      await append([sent]);
      return sent;
    },
    /** The latest report to alerts about a notification, once `attempts` attempts were made. */
    outcome: (sent: NotificationRecord, attempts = 1): Promise<ReadDelivery> =>
      eventually(() => {
        const newest = outcomesOf(sent).at(-1);
        if (newest === undefined || newest.attempts < attempts)
          throw new Error(`${attempts} attempts are not made yet`);
        return newest;
      }),
  };
}
