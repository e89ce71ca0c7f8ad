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
  publicUrl: string;
  /** Asked for once MongoDB has been started. */
  mongodbUri: () => string;
  /** The logger of the service of that name. */
  loggerOf: (service: string) => Logger;
  tracing: Tracing;
}

/** Each service by its name; it is made at its start. */
type LateParts = { readonly [S in ServiceName]: LateComponent<Parts[S]> };

export type Services = ReturnType<typeof createServices>;

/**
 * Every service of the table as it runs in a process of its own, in the table's order: real HTTP and gRPC between them
 * on free ports of loopback, and the gateway alone on the port that is meant for users.
 */
export function createServices(options: ServicesOptions) {
  const { config, port, publicUrl, mongodbUri, loggerOf, tracing } = options;
  const metrics: Metrics[] = [];
  const callerTokenSecret = randomBytes(32).toString('base64url');

  /** A component with the logger, the metrics and the tracer of its name, made once those before it can be reached. */
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

  /** What the person who starts this says about one service alone. */
  const told: Partial<Record<ServiceName, NodeJS.ProcessEnv>> = {
    ingest: {
      WORKSPACE_EVENTS_PER_SECOND: String(config.WORKSPACE_EVENTS_PER_SECOND),
      WORKSPACE_BURST_EVENTS: String(config.WORKSPACE_BURST_EVENTS),
      WORKSPACE_BYTES_PER_SECOND: String(config.WORKSPACE_BYTES_PER_SECOND),
      WORKSPACE_BURST_BYTES: String(config.WORKSPACE_BURST_BYTES),
    },
    enforcer: {
      WORKSPACE_CALLS_PER_SECOND: String(config.WORKSPACE_CALLS_PER_SECOND),
      WORKSPACE_BURST_CALLS: String(config.WORKSPACE_BURST_CALLS),
      GRPC_PORT: String(config.ENFORCER_GRPC_PORT),
    },
    gateway: { HOST: config.HOST, HTTP_PORT: String(port), TRUSTED_PROXIES: config.TRUSTED_PROXIES },
  };
  const addresses = createAddresses((service) => parts[service].made);
  const ownDestinations = new Map([[SAMPLE_INBOX_URL, createSampleInbox()]]);
  let channelKey: Promise<string> | undefined;

  async function environmentOf(service: ServiceName): Promise<NodeJS.ProcessEnv> {
    await addresses.reserveFor(service);
    channelKey ??= readOrCreateSecretFile(join(config.TOLLKEEPER_DATA_DIR, 'channels.key'), newKey);
    const installation: Installation = {
      mongodbUri: mongodbUri(),
      // The log is one component of this process, which all share.
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
      ...told[service],
    };
  }

  // Each name has the type of its own part, which no type of `fromEntries` can say.
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

/** Where the servers are. One that is called by a service before its own start gets its port ahead of it. */
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
    /** The port that the server is to listen on; 0 for any. */
    portOf: (service: ServiceName, port: Port) => String(reserved.get(`${service} ${port}`) ?? 0),
    hostPort(service: ServiceName, port: Port): string {
      const ahead = reserved.get(`${service} ${port}`);
      if (ahead !== undefined) return `${LOOPBACK}:${ahead}`;
      const { httpUrl = '', grpcAddress = '' } = made(service);
      return port === 'http' ? new URL(httpUrl).host : grpcAddress;
    },
  };
}

/** The key that channel secrets are encrypted with, in base64. */
function newKey(): string {
  return randomBytes(32).toString('base64');
}
