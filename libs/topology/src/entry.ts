/** A server of a service, by the name that its port has in the manifests; its setting is `HTTP_PORT`, and so on. */
export type Port = 'http' | 'grpc';

/** Where each server listens in a container. */
export const PORTS: Record<Port, number> = { http: 8080, grpc: 9090 };

/**
 * A secret of the installation, which docs/deployment.md tells how to make. `MONGODB_URI` and the log-in to Kafka are
 * none of them: they follow from what a service stores and reads.
 */
export type Secret =
  | 'CALLER_TOKEN_SECRET'
  | 'CHANNEL_ENCRYPTION_KEYS'
  | 'FIRST_OWNER_EMAIL'
  | 'FIRST_OWNER_PASSWORD'
  | 'OIDC_PROVIDERS'
  | 'SMTP_URL';

/** A setting that an installation has one value of, for every service that takes it. */
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

/** Settings that identity can do without. Whoever runs identity for others passes them on by this list. */
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

/** What a service is to the others and to the place where it runs. `S` are the names of services. */
export interface ServiceEntry<S extends string> {
  /** The servers that it has, beside the one of `ops`. */
  readonly serves: readonly Port[];
  /** Those of its servers that everybody may call: browsers and agent gateways. */
  readonly open: readonly Port[];
  /** The services whose servers it calls: `{ grpc: ['identity'] }` is its setting `IDENTITY_GRPC`. */
  readonly calls: Readonly<Partial<Record<Port, readonly S[]>>>;
  /** Topics of the event log. A service with none of either has no log. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Whether it has a database of its own in MongoDB, `tollkeeper_<service>`. */
  readonly mongodb: boolean;
  readonly secrets: readonly Secret[];
  readonly settings: readonly SharedSetting[];
  /** Whether it calls addresses on the internet (https). */
  readonly internet: boolean;
  /** What its pod may take. */
  readonly memoryMib: number;
}
