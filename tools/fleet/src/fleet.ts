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
   * Holds secrets, the bundles that run, and what the managed `mongod` and Kafka store. Created when missing; one fleet
   * at a time works on it.
   */
  dataDirectory: string;
  /** Port of the gateway on loopback; a free one unless given. */
  port?: number;
  /** A MongoDB replica set to use in place of a managed one. */
  mongodbUri?: string;
  /** Members of the managed replica set: 1, or 3 so that it outlives the loss of its primary. 1 unless given. */
  mongoMembers?: 1 | 3;
  /** `host:port,host:port` of an Apache Kafka to use in place of a managed one. */
  kafkaBrokers?: string;
  /** Copies of each record that a Kafka of one's own keeps, 1 unless given. */
  kafkaReplicationFactor?: number;
  /** Who is made the owner while there is no user at all; the password is a random one unless given. */
  firstOwner?: { email: string; password?: string };
  /** Networks, with commas between, that alert channels may lead to though their addresses are special. */
  allowCidrs?: string;
  /** Settings that identity can do without: of single sign-on and of mail. */
  identity?: Installation['values'];
  /** More environment variables of every service, such as `LOG_LEVEL`. */
  env?: NodeJS.ProcessEnv;
  /** One line for a person, each time something takes long. */
  onProgress?: (line: string) => void;
  /** Each line that a service prints. */
  onLine?: (replica: string, line: string) => void;
  /**
   * Called when a replica ends that nobody has stopped, with a sentence that says how and the last lines that it
   * printed. The others keep running.
   */
  onUnexpectedExit?: (replica: Replica, reason: string, lastLines: readonly string[]) => void;
  /** Called with a sentence that says how when the managed MongoDB ends that nobody has stopped. */
  onMongoLost?: (reason: string) => void;
}

/** A running Tollkeeper of separate processes, with real HTTP, gRPC, Kafka and MongoDB between them. */
export interface Fleet {
  /** Where the gateway answers, such as `http://localhost:8080`. */
  readonly baseUrl: string;
  readonly owner: { email: string; password: string };
  /** Slug of the workspace that was made at the first start. */
  readonly workspace: string;
  /** A `developer` key of that workspace. */
  readonly apiKey: string;
  /** Whether this start has made the key. */
  readonly firstStart: boolean;
  /**
   * The replicas of each service. The first one has the address that the others know; those that were added take their
   * share of the log's partitions, but neither HTTP nor gRPC calls.
   */
  readonly services: Readonly<Record<ServiceName, readonly Replica[]>>;
  /** Null where the fleet uses a Kafka of one's own. */
  readonly kafka: KafkaBroker | null;
  /** Null where the fleet uses a MongoDB of one's own. */
  readonly mongo: EmbeddedMongo | null;
  /** One more replica of the service; resolves once it is ready. */
  addReplica(service: ServiceName): Promise<Replica>;
  /** Lets all services drain, then stops what the fleet manages. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts every service from its bundle as a process of its own, and resolves once all are ready and the first workspace
 * has an owner and a key. When something fails, what has been started is stopped and the promise rejects with what to
 * do.
 *
 * No process outlives the one that calls this, even one that is ended with SIGKILL.
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
    const replicas = await createReplicas(options, port, bundles, {
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

/** One replica of each service, not launched yet, and the way to more. */
async function createReplicas(
  options: FleetOptions,
  gatewayPort: number,
  bundles: string,
  shared: Omit<Installation, 'hostPort'>,
) {
  const { env = {}, onLine = () => undefined, onUnexpectedExit = () => undefined } = options;
  const ports = new Map<ServiceName, Ports>();
  for (const service of SERVICES) ports.set(service, await freePorts());
  const portsOf = (service: ServiceName) => ports.get(service) as Ports;
  portsOf('gateway').http = gatewayPort;
  const hostPort = (service: ServiceName, port: Port) => `${LOOPBACK}:${portsOf(service)[port]}`;

  function create(service: ServiceName, name: string, { http, grpc, ops }: Ports): Replica {
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
    /** The edge first, so that nobody asks a service that is gone. */
    async stop(): Promise<void> {
      const { gateway, ...others } = services;
      await Promise.all(gateway.map((replica) => replica.stop()));
      await Promise.all(Object.values(others).flatMap((replicas) => replicas.map((replica) => replica.stop())));
    },
  };
}

async function freePorts(): Promise<Ports> {
  return { http: await freePort(), grpc: await freePort(), ops: await freePort() };
}
