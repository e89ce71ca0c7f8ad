import { z } from 'zod';

/** A whole number in decimal digits between `min` and `max`, both included. */
export function integerField({ min, max }: { min: number; max: number }) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}

/** A TCP port; 0 lets the operating system choose. */
export function portField() {
  return integerField({ min: 0, max: 65_535 });
}

/** `true` or `false`. */
export function flagField() {
  return z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
}

/** A secret of at least `minLength` characters. */
export function secretField({ minLength }: { minLength: number }) {
  return z.string().min(minLength, `must have at least ${minLength} characters`);
}

/** `host:port` of a gRPC server, e.g. `identity:9090` or `[::1]:9090`. */
export function hostPortField() {
  return z.string().regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/, 'must be host:port');
}

/** The origin of an HTTP server, e.g. `http://dashboard:8080`: no path, no query, no credentials. */
export function httpOriginField() {
  return z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .transform((text) => new URL(text))
    .refine(
      (url) => url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '',
      'must be only a scheme, a host and a port',
    )
    .transform((url) => url.origin);
}

/** Comma-separated text, blanks around the parts ignored. */
export function listField() {
  return z.string().transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
}

/** The address of a MongoDB replica set. */
export function mongodbUriField() {
  return z.string().regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address');
}

/** The settings of a service with an HTTP server behind the gateway. */
export const httpServiceFields = {
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
};

/** The settings of a service with a gRPC server. */
export const grpcServiceFields = {
  GRPC_PORT: portField().prefault('9090').describe('port of the gRPC server; default 9090'),
};

/** The settings of a service with a database of its own, which is named `database` unless its environment says otherwise. */
export function mongodbFields(database: string) {
  return {
    MONGODB_URI: mongodbUriField().describe('MongoDB replica set, for example mongodb://mongo-0:27017/?replicaSet=rs0'),
    MONGODB_DATABASE: z.string().min(1).default(database).describe(`database; default ${database}`),
  };
}

/** The settings that every service takes. Extend it with the service's own. */
export const serviceConfig = z.object({
  HOST: z.string().default('0.0.0.0').describe('address that the servers listen on; default 0.0.0.0'),
  OPS_PORT: portField()
    .prefault('9100')
    .describe('port of /healthz, /readyz and /metrics, for the cluster only; default 9100'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('fatal, error, warn, info, debug, trace or silent; default info'),
  LOG_PRETTY: flagField().prefault('false').describe('true for readable lines in place of JSON; default false'),
  DRAIN_DELAY_MS: integerField({ min: 0, max: 60_000 })
    .prefault('0')
    .describe('milliseconds between becoming not ready and stopping, for load balancers to notice; default 0'),
});
export type ServiceConfig = z.infer<typeof serviceConfig>;
