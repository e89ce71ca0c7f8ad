import { randomBytes } from 'node:crypto';
import { createDashboard, dashboardConfig } from '@tollkeeper/dashboard';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { createGateway, gatewayConfig } from '@tollkeeper/gateway';
import { createIdentity, identityConfig } from '@tollkeeper/identity';
import { createIngest, ingestConfig } from '@tollkeeper/ingest';
import { createKeys, keysConfig } from '@tollkeeper/keys';
import { createMetrics, type Logger, loadConfig, type Metrics } from '@tollkeeper/runtime';
import type { StandaloneConfig } from './config.ts';
import { createLate } from './late.component.ts';

const EVENT_LOG_DATABASE = 'tollkeeper_log';

export interface ServicesDeps {
  config: StandaloneConfig;
  /** Port and public address of the gateway. */
  port: number;
  publicUrl: string;
  /** Asked for once MongoDB has been started. */
  mongodbUri: () => string;
  /** The logger of the service of that name. */
  loggerOf: (service: string) => Logger;
}

export type Services = ReturnType<typeof createServices>;

/**
 * Every service as it runs in a process of its own, in the order in which they need each other: real HTTP and gRPC
 * between them on free ports of loopback, and the gateway alone on the port that is meant for users.
 */
export function createServices({ config, port, publicUrl, mongodbUri, loggerOf }: ServicesDeps) {
  const metrics: Metrics[] = [];
  const callerTokenSecret = randomBytes(32).toString('base64url');

  /** What every service is given; the names are those of its environment in a process of its own. */
  const environment = (): NodeJS.ProcessEnv => ({
    HOST: '127.0.0.1',
    HTTP_PORT: '0',
    GRPC_PORT: '0',
    MONGODB_URI: mongodbUri(),
    CALLER_TOKEN_SECRET: callerTokenSecret,
    PUBLIC_URL: publicUrl,
    LOG_LEVEL: config.LOG_LEVEL,
  });
  const deps = (service: string) => {
    const own = createMetrics(service);
    metrics.push(own);
    return { logger: loggerOf(service), metrics: own };
  };

  const logDeps = deps('event-log');
  const eventLog = createLate('event-log', () =>
    createConfiguredEventLog({ config: { EVENT_LOG_MONGODB_URI: mongodbUri(), EVENT_LOG_DATABASE }, ...logDeps }),
  );
  const identityDeps = deps('identity');
  const identity = createLate('identity', () =>
    createIdentity({
      config: loadConfig(identityConfig, environment()),
      eventLog: eventLog.made,
      ...identityDeps,
    }),
  );
  const keysDeps = deps('keys');
  const keys = createLate('keys', () => createKeys({ config: loadConfig(keysConfig, environment()), ...keysDeps }));
  const ingestDeps = deps('ingest');
  const ingest = createLate('ingest', () =>
    createIngest({
      config: loadConfig(ingestConfig, { ...environment(), KEYS_GRPC: keys.made.grpcAddress }),
      eventLog: eventLog.made,
      ...ingestDeps,
    }),
  );
  const dashboardDeps = deps('dashboard');
  const dashboard = createLate('dashboard', () =>
    createDashboard({
      config: loadConfig(dashboardConfig, { ...environment(), IDENTITY_GRPC: identity.made.grpcAddress }),
      eventLog: eventLog.made,
      ...dashboardDeps,
    }),
  );
  const gatewayDeps = deps('gateway');
  const gateway = createLate('gateway', () =>
    createGateway({
      config: loadConfig(gatewayConfig, {
        ...environment(),
        HOST: config.HOST,
        HTTP_PORT: String(port),
        IDENTITY_GRPC: identity.made.grpcAddress,
        IDENTITY_HTTP: identity.made.httpUrl,
        DASHBOARD_HTTP: dashboard.made.httpUrl,
        KEYS_HTTP: keys.made.httpUrl,
        INGEST_HTTP: ingest.made.httpUrl,
      }),
      ...gatewayDeps,
    }),
  );
  return { eventLog, identity, keys, ingest, dashboard, gateway, metrics };
}
