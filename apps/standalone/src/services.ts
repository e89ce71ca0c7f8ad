import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { alertsConfig, createAlerts } from '@tollkeeper/alerts';
import { budgetsConfig, createBudgets } from '@tollkeeper/budgets';
import { createDashboard, dashboardConfig } from '@tollkeeper/dashboard';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { createGateway, gatewayConfig } from '@tollkeeper/gateway';
import { createIdentity, identityConfig } from '@tollkeeper/identity';
import { createIngest, ingestConfig } from '@tollkeeper/ingest';
import { createKeys, keysConfig } from '@tollkeeper/keys';
import { freePort } from '@tollkeeper/managed-process';
import { createNotifier, notifierConfig } from '@tollkeeper/notifier';
import {
  type Component,
  createMetrics,
  type Logger,
  loadConfig,
  type Metrics,
  readOrCreateSecretFile,
  type Tracer,
  type Tracing,
} from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import type { StandaloneConfig } from './config.ts';
import { createLate } from './late.component.ts';

const LOOPBACK = '127.0.0.1';

export interface ServicesOptions {
  config: StandaloneConfig;
  /** Port and public address of the gateway. */
  port: number;
  publicUrl: string;
  /** Asked for once MongoDB has been started. */
  mongodbUri: () => string;
  /** The logger of the service of that name. */
  loggerOf: (service: string) => Logger;
  tracing: Tracing;
}

export type Services = ReturnType<typeof createServices>;

/**
 * Every service as it runs in a process of its own, in the order in which they need each other: real HTTP and gRPC
 * between them on free ports of loopback, and the gateway alone on the port that is meant for users.
 */
export function createServices(options: ServicesOptions) {
  const { port, publicUrl, mongodbUri, loggerOf, tracing } = options;
  const metrics: Metrics[] = [];
  const callerTokenSecret = randomBytes(32).toString('base64url');

  /** What every service is given; the names are those of its environment in a process of its own. */
  const environment = (): NodeJS.ProcessEnv => ({
    HOST: LOOPBACK,
    HTTP_PORT: '0',
    GRPC_PORT: '0',
    MONGODB_URI: mongodbUri(),
    CALLER_TOKEN_SECRET: callerTokenSecret,
    PUBLIC_URL: publicUrl,
    DESTINATION_ALLOW_CIDRS: options.config.TOLLKEEPER_ALLOW_CIDRS,
    LOG_LEVEL: options.config.LOG_LEVEL,
  });
  /** A service with the logger, the metrics and the tracer of its name, made once those before it can be reached. */
  const add = <C extends Component>(
    name: string,
    create: (deps: { logger: Logger; metrics: Metrics; tracer: Tracer | undefined }) => C | Promise<C>,
  ) => {
    const own = createMetrics(name, manifest.version);
    metrics.push(own);
    return createLate(name, () =>
      create({ logger: loggerOf(name), metrics: own, tracer: tracing.tracerOf(name, manifest.version) }),
    );
  };

  const eventLog = add('event-log', (deps) =>
    createConfiguredEventLog({
      ...deps,
      config: options.config.KAFKA_BROKERS === undefined ? { EVENT_LOG_MONGODB_URI: mongodbUri() } : options.config,
    }),
  );
  const identity = add('identity', (deps) =>
    createIdentity({ ...deps, config: loadConfig(identityConfig, environment()), eventLog: eventLog.made }),
  );
  const keys = add('keys', (deps) => createKeys({ ...deps, config: loadConfig(keysConfig, environment()) }));
  const ingest = add('ingest', (deps) => {
    const config = loadConfig(ingestConfig, {
      ...environment(),
      KEYS_GRPC: keys.made.grpcAddress,
      WORKSPACE_EVENTS_PER_SECOND: String(options.config.WORKSPACE_EVENTS_PER_SECOND),
      WORKSPACE_BURST_EVENTS: String(options.config.WORKSPACE_BURST_EVENTS),
    });
    return createIngest({ ...deps, config, eventLog: eventLog.made });
  });
  const budgets = add('budgets', (deps) => {
    const config = loadConfig(budgetsConfig, { ...environment(), IDENTITY_GRPC: identity.made.grpcAddress });
    return createBudgets({ ...deps, config });
  });
  const dashboard = add('dashboard', (deps) => {
    const config = loadConfig(dashboardConfig, {
      ...environment(),
      IDENTITY_GRPC: identity.made.grpcAddress,
      BUDGETS_GRPC: budgets.made.grpcAddress,
    });
    return createDashboard({ ...deps, config, eventLog: eventLog.made });
  });
  // The two call each other, so one of their addresses has to be known before its service is there.
  let notifierPort = 0;
  const alerts = add('alerts', async (deps) => {
    notifierPort = await freePort();
    const channelKey = await readOrCreateSecretFile(join(options.config.TOLLKEEPER_DATA_DIR, 'channels.key'), newKey);
    const config = loadConfig(alertsConfig, {
      ...environment(),
      IDENTITY_GRPC: identity.made.grpcAddress,
      NOTIFIER_GRPC: `${LOOPBACK}:${notifierPort}`,
      CHANNEL_ENCRYPTION_KEYS: `1:${channelKey}`,
    });
    return createAlerts({ ...deps, config, eventLog: eventLog.made });
  });
  const notifier = add('notifier', (deps) => {
    const config = loadConfig(notifierConfig, {
      ...environment(),
      GRPC_PORT: String(notifierPort),
      ALERTS_GRPC: alerts.made.grpcAddress,
      IDENTITY_GRPC: identity.made.grpcAddress,
    });
    return createNotifier({ ...deps, config, eventLog: eventLog.made });
  });
  const gateway = add('gateway', (deps) => {
    const config = loadConfig(gatewayConfig, {
      ...environment(),
      HOST: options.config.HOST,
      HTTP_PORT: String(port),
      TRUSTED_PROXIES: options.config.TRUSTED_PROXIES,
      IDENTITY_GRPC: identity.made.grpcAddress,
      IDENTITY_HTTP: identity.made.httpUrl,
      KEYS_HTTP: keys.made.httpUrl,
      INGEST_HTTP: ingest.made.httpUrl,
      BUDGETS_HTTP: budgets.made.httpUrl,
      DASHBOARD_HTTP: dashboard.made.httpUrl,
      ALERTS_HTTP: alerts.made.httpUrl,
    });
    return createGateway({ ...deps, config });
  });
  const inOrder: Component[] = [eventLog, identity, keys, ingest, budgets, dashboard, alerts, notifier, gateway];
  return { inOrder, metrics, callerTokenSecret, eventLog, identity, keys, budgets, dashboard };
}

/** The key that channel secrets are encrypted with, in base64. */
function newKey(): string {
  return randomBytes(32).toString('base64');
}
