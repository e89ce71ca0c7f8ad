import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { type KafkaBroker, startKafka } from '@tollkeeper/embedded-kafka';
import { freePort, isFree, LockHeldError, lockFile } from '@tollkeeper/managed-process';
import { type Installation, type Port, SERVICES, type ServiceName, settingsOf } from '@tollkeeper/topology';
import { buildBundles, bundleOf } from './bundles.ts';
import { findOrCreateKey } from './developer.key.ts';
import { createReplica, type Replica } from './replica.ts';
import { readOrCreateSecrets } from './secrets.ts';

const LOOPBACK = '127.0.0.1';
const WORKSPACE = 'demo';

export interface FleetOptions {
  /**
   * Holds secrets, the running bundles, and the data of the managed `mongod` and Kafka. Created if missing. Only one
   * fleet at a time may use it.
   */
  dataDirectory: string;
  /** The gateway's port on loopback; a free one by default. */
  port?: number;
  /** The port of OTLP over gRPC on loopback; a free one by default, and if another program has it. */
  otlpPort?: number;
  /** A MongoDB replica set to use instead of a managed one. */
  mongodbUri?: string;
  /** Members of the managed replica set, by default 1. With 3, it survives the loss of its primary. */
  mongoMembers?: 1 | 3;
  /** `host:port,host:port` of an Apache Kafka to use instead of a managed one. */
  kafkaBrokers?: string;
  /** Replication factor on a user's own Kafka, by default 1. */
  kafkaReplicationFactor?: number;
  /** The owner to create if there is no user at all; the password is random by default. */
  firstOwner?: { email: string; password?: string };
  /** Comma-separated networks with special addresses that alert channels may use. */
  allowCidrs?: string;
  /** Optional settings for single sign-on, and for mail of identity and the notifier. */
  identity?: Installation['values'];
  /** Further environment variables of every service, such as `LOG_LEVEL`. */
  env?: NodeJS.ProcessEnv;
  /** Gets a readable line whenever something takes long. */
  onProgress?: (line: string) => void;
  /** Gets each line that a service prints. */
  onLine?: (replica: string, line: string) => void;
  /**
   * Called when a replica ends unexpectedly, with a sentence that says how and the last lines that it printed. The
   * others keep running.
   */
  onUnexpectedExit?: (replica: Replica, reason: string, lastLines: readonly string[]) => void;
  /** Called when the managed MongoDB ends unexpectedly, with a sentence that says how. */
  onMongoLost?: (reason: string) => void;
}

/** A running Tollkeeper of separate processes, with real HTTP, gRPC, Kafka and MongoDB between them. */
export interface Fleet {
  /** The gateway's URL, such as `http://localhost:8080`. */
  readonly baseUrl: string;
  /** `host:port` of OTLP over gRPC. */
  readonly otlpAddress: string;
  readonly owner: { email: string; password: string };
  /** Slug of the workspace that was created at the first start. */
  readonly workspace: string;
  /** A `developer` key of that workspace. */
  readonly apiKey: string;
  /** Whether this start created the key. */
  readonly firstStart: boolean;
  /**
   * The replicas of each service. The first one has the address that other services use. Added ones take their share of
   * the log's partitions, but get neither HTTP nor gRPC calls.
   */
  readonly services: Readonly<Record<ServiceName, readonly Replica[]>>;
  /** Null if the fleet uses the user's own Kafka. */
  readonly kafka: KafkaBroker | null;
  /** Null if the fleet uses the user's own MongoDB. */
  readonly mongo: EmbeddedMongo | null;
  /** Adds a replica of the service; resolves once it is ready. */
  addReplica(service: ServiceName): Promise<Replica>;
  /** Drains all services, then stops the managed servers. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts every service from its bundle as a separate process. Resolves once all are ready and the first workspace has
 * an owner and a key. If something fails, what has been started is stopped and the promise rejects with what to do.
 *
 * No process outlives the calling one, even if that is ended with SIGKILL.
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { onProgress = () => undefined } = options;
  const dataDirectory = resolve(options.dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const started: (() => Promise<unknown>)[] = [await lock(dataDirectory)];
  const stop = async () => {
    for (const undo of started.splice(0).toReversed()) await undo();
  };
  try {
    const port = options.port ?? (await freePort());
    if (!(await isFree(port))) {
      throw new Error(
        `Port ${port} is in use. Stop the program that uses it, or choose another port: PORT=${port + 1} npm run fleet`,
      );
    }
    const otlpPort = await findOtlpPort(options);
    onProgress('Building the services…');
    const bundles = join(dataDirectory, 'bundles');
    await buildBundles(bundles);
    onProgress('Starting MongoDB and Kafka…');
    const mongo = options.mongodbUri === undefined ? await startMongo(options, dataDirectory) : null;
    if (mongo !== null) started.push(() => mongo.stop());
    const kafka = options.kafkaBrokers === undefined ? await startBroker(options, dataDirectory) : null;
    if (kafka !== null) started.push(() => kafka.stop());

    onProgress('Starting the services…');
    const secrets = await readOrCreateSecrets(dataDirectory);
    const owner = {
      email: options.firstOwner?.email ?? 'owner@example.com',
      password: options.firstOwner?.password ?? secrets.ownerPassword,
    };
    const publicUrl = `http://localhost:${port}`;
    const replicas = await createReplicas(options, { gateway: port, otlp: otlpPort }, bundles, {
      mongodbUri: options.mongodbUri ?? mongo?.uri ?? '',
      eventLog: {
        KAFKA_BROKERS: options.kafkaBrokers ?? kafka?.brokers ?? '',
        KAFKA_REPLICATION_FACTOR: String(options.kafkaReplicationFactor ?? 1),
      },
      values: {
        CALLER_TOKEN_SECRET: secrets.callerTokenSecret,
        CHANNEL_ENCRYPTION_KEYS: `1:${secrets.channelEncryptionKey}`,
        DESTINATION_ALLOW_CIDRS: options.allowCidrs ?? '',
        FIRST_OWNER_EMAIL: owner.email,
        FIRST_OWNER_PASSWORD: owner.password,
        FIRST_WORKSPACE_SLUG: WORKSPACE,
        PUBLIC_URL: publicUrl,
        ...options.identity,
      },
    });
    started.push(replicas.stop);
    // All at once: a service waits for what it needs and is not ready until then.
    const all = Object.values(replicas.services).flat();
    for (const replica of all) replica.launch();
    await Promise.all(all.map((replica) => replica.ready()));
    const key = await findOrCreateKey({ baseUrl: publicUrl, owner, workspace: WORKSPACE, dataDirectory });

    let stopping: Promise<void> | undefined;
    return {
      baseUrl: publicUrl,
      otlpAddress: `${LOOPBACK}:${otlpPort}`,
      owner,
      workspace: WORKSPACE,
      apiKey: key.apiKey,
      firstStart: key.created,
      services: replicas.services,
      kafka,
      mongo,
      addReplica: replicas.add,
      stop: () => (stopping ??= stop()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function findOtlpPort({ otlpPort = 0, onProgress = () => undefined }: FleetOptions): Promise<number> {
  if (otlpPort === 0) return freePort();
  if (await isFree(otlpPort)) return otlpPort;
  const other = await freePort();
  onProgress(`Port ${otlpPort} is in use, so OTLP over gRPC is at ${LOOPBACK}:${other} (OTLP_PORT).`);
  return other;
}

async function lock(dataDirectory: string): Promise<() => Promise<void>> {
  try {
    return await lockFile(join(dataDirectory, 'lock.json'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new Error(
      `The data directory ${dataDirectory} is in use by the process ${error.pid}. Stop that process first (Ctrl-C or kill), or set ` +
        'TOLLKEEPER_DATA_DIR to another directory.',
    );
  }
}

function startMongo(options: FleetOptions, dataDirectory: string): Promise<EmbeddedMongo> {
  const { mongoMembers = 1, onProgress = () => undefined, onMongoLost = () => undefined } = options;
  return startEmbeddedMongo({
    dataDirectory: join(dataDirectory, 'mongodb'),
    members: mongoMembers,
    onProgress,
    onUnexpectedExit: onMongoLost,
  });
}

function startBroker({ onProgress }: FleetOptions, dataDirectory: string): Promise<KafkaBroker> {
  return startKafka({ dataDirectory: join(dataDirectory, 'kafka'), ...(onProgress && { onProgress }) });
}

type Ports = Record<Port | 'ops', number>;

/** One replica of each service, not launched yet, and a function to add more. */
async function createReplicas(
  options: FleetOptions,
  publicPorts: { gateway: number; otlp: number },
  bundles: string,
  shared: Omit<Installation, 'hostPort'>,
) {
  const { env = {}, onLine = () => undefined, onUnexpectedExit = () => undefined } = options;
  const ports = new Map<ServiceName, Ports>();
  for (const service of SERVICES) ports.set(service, await freePorts());
  const portsOf = (service: ServiceName) => ports.get(service) as Ports;
  portsOf('gateway').http = publicPorts.gateway;
  portsOf('ingest').otlp = publicPorts.otlp;
  const hostPort = (service: ServiceName, port: Port) => `${LOOPBACK}:${portsOf(service)[port]}`;

  function create(service: ServiceName, name: string, { http, grpc, otlp, ops }: Ports): Replica {
    const replica = createReplica({
      ...{ service, name, bundle: bundleOf(service, bundles) },
      httpUrl: `http://${LOOPBACK}:${http}`,
      grpcAddress: `${LOOPBACK}:${grpc}`,
      opsUrl: `http://${LOOPBACK}:${ops}`,
      env: {
        PATH: process.env['PATH'],
        ...env,
        ...settingsOf(service, { ...shared, hostPort }),
        HOST: LOOPBACK,
        HTTP_PORT: String(http),
        GRPC_PORT: String(grpc),
        OTLP_PORT: String(otlp),
        OPS_PORT: String(ops),
      },
      onLine: (line) => onLine(name, line),
      onUnexpectedExit: (reason, lastLines) => onUnexpectedExit(replica, reason, lastLines),
    });
    return replica;
  }

  const services = Object.fromEntries(
    SERVICES.map((service) => [service, [create(service, service, portsOf(service))]]),
  ) as Record<ServiceName, Replica[]>;
  return {
    services,
    async add(service: ServiceName): Promise<Replica> {
      const replica = create(service, `${service}-${services[service].length + 1}`, await freePorts());
      services[service].push(replica);
      replica.launch();
      await replica.ready();
      return replica;
    },
    /** The edge first, so that no request reaches a stopped service. */
    async stop(): Promise<void> {
      const { gateway, ...others } = services;
      await Promise.all(gateway.map((replica) => replica.stop()));
      await Promise.all(Object.values(others).flatMap((replicas) => replicas.map((replica) => replica.stop())));
    },
  };
}

async function freePorts(): Promise<Ports> {
  return { http: await freePort(), grpc: await freePort(), otlp: await freePort(), ops: await freePort() };
}
