/**
 * A server of a service, by the name of its port in the manifests. Its setting is `HTTP_PORT`, and so on. `otlp` is for
 * reporters: OTLP over gRPC.
 */
export type Port = 'http' | 'grpc' | 'otlp';

/** The port of each server in a container. */
export const PORTS: Record<Port, number> = { http: 8080, grpc: 9090, otlp: 4317 };

/**
 * A secret of the installation; docs/deployment.md says how to create it. `MONGODB_URI` and the log-in to Kafka are not
 * included, because they follow from what a service stores and reads.
 */
export type Secret =
  | 'CALLER_TOKEN_SECRET'
  | 'CHANNEL_ENCRYPTION_KEYS'
  | 'FIRST_OWNER_EMAIL'
  | 'FIRST_OWNER_PASSWORD'
  | 'OIDC_PROVIDERS'
  | 'SMTP_URL';

/** A setting with the same value for every service of an installation that takes it. */
export type SharedSetting =
  | 'PUBLIC_URL'
  | 'DESTINATION_ALLOW_CIDRS'
  | 'FIRST_WORKSPACE_SLUG'
  | 'OIDC_TRUSTED_DOMAINS'
  | 'OIDC_SIGN_UP'
  | 'OIDC_STRICT'
  | 'PASSWORD_LOGIN'
  | 'PASSWORD_LOGIN_BREAK_GLASS'
  | 'MAIL_FROM';

/** Optional settings of identity. Tools that run identity for others use this list to pass them on. */
export const OPTIONAL_FOR_IDENTITY = [
  'OIDC_PROVIDERS',
  'OIDC_TRUSTED_DOMAINS',
  'OIDC_SIGN_UP',
  'OIDC_STRICT',
  'PASSWORD_LOGIN',
  'PASSWORD_LOGIN_BREAK_GLASS',
  'SMTP_URL',
  'MAIL_FROM',
] as const satisfies readonly (Secret | SharedSetting)[];

/** What other services and the platform need to know about a service. `S` are the names of services. */
export interface ServiceEntry<S extends string> {
  /** Its servers, besides the one for `ops`. */
  readonly serves: readonly Port[];
  /** Its servers that everybody may call: browsers and agent gateways. */
  readonly open: readonly Port[];
  /** The services that it calls: `{ grpc: ['identity'] }` is its setting `IDENTITY_GRPC`. */
  readonly calls: Readonly<Partial<Record<Port, readonly S[]>>>;
  /** Topics of the event log. A service without topics does not use the log. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Whether it has a database of its own in MongoDB, `tollkeeper_<service>`. */
  readonly mongodb: boolean;
  readonly secrets: readonly Secret[];
  readonly settings: readonly SharedSetting[];
  /** Whether it calls addresses on the internet (https). */
  readonly internet: boolean;
  /** Memory limit of its pod. */
  readonly memoryMib: number;
}
