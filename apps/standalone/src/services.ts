import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { freePort } from '@tollkeeper/managed-process';
import {
  type Component,
  createMetrics,
  type Logger,
  type Metrics,
  readOrCreateSecretFile,
  type Tracer,
  type Tracing,
} from '@tollkeeper/runtime';
import {
  type Installation,
  type Port,
  SERVICES,
  type ServiceName,
  settingsOf,
  OPTIONAL_FOR_IDENTITY,
  TOPOLOGY,
} from '@tollkeeper/topology';
import manifest from '../package.json' with { type: 'json' };
import type { StandaloneConfig } from './config.ts';
import { createSampleInbox, SAMPLE_INBOX_URL } from './demo/sample-inbox.ts';
import { createLate, type LateComponent } from './late.component.ts';
import { type Part, PARTS, type Parts } from './parts.ts';

const LOOPBACK = '127.0.0.1';

export interface ServicesOptions {
  config: StandaloneConfig;
  /** Port and public address of the gateway. */
  port: number;
  /** Port of OTLP over gRPC. */
  otlpPort: number;
  publicUrl: string;
  /** Called after MongoDB has started. */
  mongodbUri: () => string;
  /** The logger of the named service. */
  loggerOf: (service: string) => Logger;
  tracing: Tracing;
}

/** The services by name; each is created at its start. */
type LateParts = { readonly [S in ServiceName]: LateComponent<Parts[S]> };

export type Services = ReturnType<typeof createServices>;

/**
 * Every service of the table, in its order, as in separate processes: with real HTTP and gRPC between them on free
 * loopback ports. Only the gateway has the port for users, and ingest the one for OTLP over gRPC.
 */
export function createServices(options: ServicesOptions) {
  const { config, publicUrl, mongodbUri, loggerOf, tracing } = options;
  const metrics: Metrics[] = [];
  const callerTokenSecret = randomBytes(32).toString('base64url');

  /** A component with its own logger, metrics and tracer, created once the previous ones are reachable. */
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
      config:
        config.KAFKA_BROKERS === undefined
          ? { EVENT_LOG_MONGODB_URI: mongodbUri(), EVENT_LOG_MIN_FREE_BYTES: config.EVENT_LOG_MIN_FREE_BYTES }
          : config,
    }),
  );

  const ownSettings = ownSettingsOf(options);
  const addresses = createAddresses((service) => parts[service].made);
  const ownDestinations = new Map([[SAMPLE_INBOX_URL, createSampleInbox()]]);
  let channelKey: Promise<string> | undefined;

  async function environmentOf(service: ServiceName): Promise<NodeJS.ProcessEnv> {
    await addresses.reserveFor(service);
    channelKey ??= readOrCreateSecretFile(join(config.TOLLKEEPER_DATA_DIR, 'channels.key'), newKey);
    const installation: Installation = {
      mongodbUri: mongodbUri(),
      // All services share one log, which is a component of this process.
      eventLog: {},
      values: {
        CALLER_TOKEN_SECRET: callerTokenSecret,
        CHANNEL_ENCRYPTION_KEYS: `1:${await channelKey}`,
        PUBLIC_URL: publicUrl,
        DESTINATION_ALLOW_CIDRS: config.TOLLKEEPER_ALLOW_CIDRS,
        ...Object.fromEntries(OPTIONAL_FOR_IDENTITY.map((name) => [name, config[name]])),
        PASSWORD_LOGIN_BREAK_GLASS: config.PASSWORD_LOGIN_BREAK_GLASS ?? config.TOLLKEEPER_OWNER_EMAIL,
      },
      hostPort: addresses.hostPort,
    };
    return {
      HOST: LOOPBACK,
      LOG_LEVEL: config.LOG_LEVEL,
      HTTP_PORT: addresses.portOf(service, 'http'),
      GRPC_PORT: addresses.portOf(service, 'grpc'),
      ...settingsOf(service, installation),
      ...ownSettings[service],
    };
  }

  // `fromEntries` cannot express that each name has its own type.
  const parts = Object.fromEntries(
    SERVICES.map((service) => {
      const part: Part = PARTS[service];
      const create = async (deps: { logger: Logger; metrics: Metrics; tracer: Tracer | undefined }) =>
        part.create({ ...deps, eventLog: eventLog.made, ownDestinations }, await environmentOf(service));
      return [service, add(service, create)];
    }),
  ) as LateParts;
  const inOrder: Component[] = [eventLog, ...SERVICES.map((service) => parts[service])];
  return { inOrder, metrics, callerTokenSecret, eventLog, ...parts };
}

/** Settings of the standalone that not all services have. */
function ownSettingsOf({ config, port, otlpPort }: ServicesOptions): Partial<Record<ServiceName, NodeJS.ProcessEnv>> {
  const prices = { PRICES_FILE: config.PRICES_FILE, PRICES_URL: config.PRICES_URL };
  return {
    ingest: {
      WORKSPACE_EVENTS_PER_SECOND: String(config.WORKSPACE_EVENTS_PER_SECOND),
      WORKSPACE_BURST_EVENTS: String(config.WORKSPACE_BURST_EVENTS),
      WORKSPACE_BYTES_PER_SECOND: String(config.WORKSPACE_BYTES_PER_SECOND),
      WORKSPACE_BURST_BYTES: String(config.WORKSPACE_BURST_BYTES),
      ...prices,
      OTLP_PORT: String(otlpPort),
    },
    dashboard: prices,
    enforcer: {
      WORKSPACE_CALLS_PER_SECOND: String(config.WORKSPACE_CALLS_PER_SECOND),
      WORKSPACE_BURST_CALLS: String(config.WORKSPACE_BURST_CALLS),
      GRPC_PORT: String(config.ENFORCER_GRPC_PORT),
      ...prices,
    },
    gateway: { HOST: config.HOST, HTTP_PORT: String(port), TRUSTED_PROXIES: config.TRUSTED_PROXIES },
  };
}

/** The addresses of the servers. If a service is called before its own start, its port is reserved in advance. */
function createAddresses(made: (service: ServiceName) => { httpUrl?: string; grpcAddress?: string }) {
  const reserved = new Map<string, number>();
  const place = (service: ServiceName) => SERVICES.indexOf(service);
  return {
    async reserveFor(caller: ServiceName): Promise<void> {
      for (const [port, peers] of Object.entries(TOPOLOGY[caller].calls)) {
        for (const peer of peers.filter((each) => place(each) > place(caller))) {
          reserved.set(`${peer} ${port}`, await freePort());
        }
      }
    },
    /** The port for the server to listen on; 0 for any. */
    portOf: (service: ServiceName, port: Port) => String(reserved.get(`${service} ${port}`) ?? 0),
    hostPort(service: ServiceName, port: Port): string {
      const ahead = reserved.get(`${service} ${port}`);
      if (ahead !== undefined) return `${LOOPBACK}:${ahead}`;
      const { httpUrl = '', grpcAddress = '' } = made(service);
      return port === 'http' ? new URL(httpUrl).host : grpcAddress;
    },
  };
}

/** A key for the encryption of channel secrets, in base64. */
function newKey(): string {
  return randomBytes(32).toString('base64');
}
