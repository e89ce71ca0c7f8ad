import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alertsConfig, type AlertsService, createAlerts } from '@tollkeeper/alerts';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET as SECRET, type Peers } from '@tollkeeper/testing/peers';

/** Its own managed `mongod`, an event log on it, and the alerts service. */
export interface AlertsStack {
  readonly mongodbUri: string;
  readonly eventLog: EventLog;
  /**
   * Creates a service on the database of that name, without starting it; over the stack's log unless another is given.
   */
  createAlerts(database: string, eventLog?: EventLog): AlertsService;
  /** Creates a rule over HTTP. */
  createRule(alerts: AlertsService, tenantId: TenantId, body: object): Promise<void>;
  stop(): Promise<void>;
}

/** The size on a small production server. */
const CACHE_SIZE_MB = 1_024;
/** Where no peer is. */
const NOBODY = '127.0.0.1:9';

interface AlertsStackOptions {
  /** The log is on that Kafka, otherwise in the managed `mongod`. */
  kafkaBrokers?: string;
  /** Only for rules that need identity or budgets; started. */
  peers?: Peers;
}

export async function startAlertsStack({ kafkaBrokers, peers }: AlertsStackOptions = {}): Promise<AlertsStack> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-'));
  const mongod = await startEmbeddedMongo({ dataDirectory, cacheSizeMb: CACHE_SIZE_MB });
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const eventLog = createConfiguredEventLog({
    config:
      kafkaBrokers === undefined
        ? { EVENT_LOG_MONGODB_URI: mongod.uri, EVENT_LOG_DATABASE: 'log' }
        : { KAFKA_BROKERS: kafkaBrokers.split(','), KAFKA_REPLICATION_FACTOR: 1 },
    logger,
    metrics: createMetrics('event-log'),
  });
  await eventLog.start();
  const environment = {
    HOST: '127.0.0.1',
    HTTP_PORT: '0',
    MONGODB_URI: mongod.uri,
    CALLER_TOKEN_SECRET: SECRET,
    IDENTITY_GRPC: peers?.address ?? NOBODY,
    BUDGETS_GRPC: peers?.address ?? NOBODY,
    NOTIFIER_GRPC: NOBODY,
  };

  return {
    mongodbUri: mongod.uri,
    eventLog,
    createAlerts(database, view = eventLog) {
      const config = loadConfig(alertsConfig, { ...environment, MONGODB_DATABASE: database });
      return createAlerts({ config, logger, metrics: createMetrics('alerts'), eventLog: view });
    },
    async createRule(alerts, tenantId, rule) {
      const token = await signCallerToken(SECRET, 'alerts', { userId: 'user_bench', tenantId, role: 'owner' });
      const response = await fetch(`${alerts.httpUrl}/api/v1/alerts/rules`, {
        method: 'POST',
        headers: { [CALLER_HEADER]: token, 'content-type': 'application/json' },
        body: JSON.stringify(rule),
      });
      const body = await response.text();
      if (response.status !== 201) throw new Error(`The rule was answered ${response.status}: ${body}`);
    },
    async stop() {
      await eventLog.stop();
      await mongod.stop();
      await rm(dataDirectory, { recursive: true });
    },
  };
}
