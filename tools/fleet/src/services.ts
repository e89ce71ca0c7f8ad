import type { FleetSecrets } from './secrets.ts';

/** Every service of Tollkeeper, the edge last. */
export const SERVICES = [
  'identity',
  'keys',
  'ingest',
  'budgets',
  'dashboard',
  'alerts',
  'notifier',
  'gateway',
] as const;
export type ServiceName = (typeof SERVICES)[number];

/** What the services of one fleet share, and where each of them is. */
export interface Wiring {
  /** What browsers call the gateway. */
  publicUrl: string;
  mongodbUri: string;
  kafkaBrokers: string;
  /** Copies of each record; no more than there are brokers. */
  kafkaReplicationFactor: number;
  secrets: FleetSecrets;
  firstOwner: { email: string; password: string };
  firstWorkspace: string;
  /** Networks that alert channels may lead to though their addresses are special. */
  allowCidrs: string;
  /** `host:port`. */
  grpc: (service: ServiceName) => string;
  /** `http://host:port`. */
  http: (service: ServiceName) => string;
}

type Settings = Record<string, string>;

/**
 * How the services fit together: all that each of them is told, beside the ports that it listens on. Each keeps a database
 * of its own, whose name it knows itself.
 */
export const SETTINGS: Record<ServiceName, (wiring: Wiring) => Settings> = {
  identity: (wiring) => ({
    ...database(wiring),
    ...eventLog(wiring),
    ...callers(wiring),
    PUBLIC_URL: wiring.publicUrl,
    FIRST_OWNER_EMAIL: wiring.firstOwner.email,
    FIRST_OWNER_PASSWORD: wiring.firstOwner.password,
    FIRST_WORKSPACE_SLUG: wiring.firstWorkspace,
  }),
  keys: (wiring) => ({ ...database(wiring), ...callers(wiring) }),
  ingest: (wiring) => ({ ...eventLog(wiring), ...callers(wiring), KEYS_GRPC: wiring.grpc('keys') }),
  budgets: (wiring) => ({ ...database(wiring), ...callers(wiring), IDENTITY_GRPC: wiring.grpc('identity') }),
  dashboard: (wiring) => ({
    ...database(wiring),
    ...eventLog(wiring),
    ...callers(wiring),
    IDENTITY_GRPC: wiring.grpc('identity'),
    BUDGETS_GRPC: wiring.grpc('budgets'),
  }),
  alerts: (wiring) => ({
    ...database(wiring),
    ...eventLog(wiring),
    ...callers(wiring),
    IDENTITY_GRPC: wiring.grpc('identity'),
    NOTIFIER_GRPC: wiring.grpc('notifier'),
    CHANNEL_ENCRYPTION_KEYS: `1:${wiring.secrets.channelEncryptionKey}`,
    DESTINATION_ALLOW_CIDRS: wiring.allowCidrs,
  }),
  notifier: (wiring) => ({
    ...database(wiring),
    ...eventLog(wiring),
    ...callers(wiring),
    ALERTS_GRPC: wiring.grpc('alerts'),
    IDENTITY_GRPC: wiring.grpc('identity'),
    PUBLIC_URL: wiring.publicUrl,
    DESTINATION_ALLOW_CIDRS: wiring.allowCidrs,
  }),
  gateway: (wiring) => ({
    ...callers(wiring),
    PUBLIC_URL: wiring.publicUrl,
    IDENTITY_GRPC: wiring.grpc('identity'),
    IDENTITY_HTTP: wiring.http('identity'),
    KEYS_HTTP: wiring.http('keys'),
    INGEST_HTTP: wiring.http('ingest'),
    BUDGETS_HTTP: wiring.http('budgets'),
    DASHBOARD_HTTP: wiring.http('dashboard'),
    ALERTS_HTTP: wiring.http('alerts'),
  }),
};

function database({ mongodbUri }: Wiring): Settings {
  return { MONGODB_URI: mongodbUri };
}

function eventLog({ kafkaBrokers, kafkaReplicationFactor }: Wiring): Settings {
  return { KAFKA_BROKERS: kafkaBrokers, KAFKA_REPLICATION_FACTOR: String(kafkaReplicationFactor) };
}

/** Who is calling is signed with it, over HTTP by the gateway and over gRPC by every service, and nobody else is believed. */
function callers({ secrets }: Wiring): Settings {
  return { CALLER_TOKEN_SECRET: secrets.callerTokenSecret };
}
