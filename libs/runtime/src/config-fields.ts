import { z } from 'zod';
import { secret } from './config.ts';

/** An integer in decimal digits between `min` and `max`, both included. */
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
      'must have only a scheme, a host and a port',
    )
    .transform((url) => url.origin);
}

/** Comma-separated text; blanks around the parts are ignored. */
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

/** The shared secret with which the gateway and the services authenticate. */
export const callerTokenFields = {
  CALLER_TOKEN_SECRET: secret(
    secretField({ minLength: 32 }).describe('at least 32 characters, the same in the gateway and all services'),
  ),
};

export type CallerTokenConfig = z.infer<z.ZodObject<typeof callerTokenFields>>;

/** The settings of a service with an HTTP server behind the gateway. */
export const httpServiceFields = {
  ...callerTokenFields,
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
};

/** The settings of a service with a gRPC server. */
export const grpcServiceFields = {
  ...callerTokenFields,
  GRPC_PORT: portField().prefault('9090').describe('port of the gRPC server; default 9090'),
};

/** The settings of a service with its own database, which is named `database` unless the environment says otherwise. */
export function mongodbFields(database: string) {
  return {
    MONGODB_URI: secret(
      mongodbUriField().describe('MongoDB replica set, such as mongodb://mongo-0:27017/?replicaSet=rs0'),
    ),
    MONGODB_DATABASE: z.string().min(1).default(database).describe(`database; default ${database}`),
  };
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `key=value,key=value`. */
const KEY_VALUES = /^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/;

/** The settings of tracing, under OpenTelemetry's own names and with its defaults. */
export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .optional()
    .describe(
      'OTLP/HTTP endpoint for traces, such as http://otel-collector:4318 (/v1/traces is added); default no tracing',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    z
      .string()
      .regex(KEY_VALUES, 'must be key=value pairs, separated by commas')
      .optional()
      .describe('headers for the endpoint as key=value, separated by commas, such as a key of the tracing back end'),
  ),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`)
    .default('parentbased_always_on')
    .describe(`sampler of traces, ${SAMPLERS.join(', ')}; default parentbased_always_on`),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .prefault('1')
    .describe('share of traces that the ratio samplers keep, 0 to 1; default 1'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .regex(KEY_VALUES, 'must be key=value pairs, separated by commas')
    .optional()
    .describe('attributes of all spans as key=value, with commas, such as deployment.environment.name=production'),
  OTEL_BSP_SCHEDULE_DELAY: integerField({ min: 1, max: 60_000 })
    .prefault('5000')
    .describe('milliseconds between two exports of spans; default 5000'),
  OTEL_BSP_MAX_QUEUE_SIZE: integerField({ min: 1, max: 1_000_000 })
    .prefault('2048')
    .describe('maximum spans that wait for export; further spans are dropped; default 2048'),
};

export type TracingConfig = z.infer<z.ZodObject<typeof tracingFields>>;

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
  LOG_PRETTY: flagField().prefault('false').describe('true for readable lines instead of JSON; default false'),
  DRAIN_DELAY_MS: integerField({ min: 0, max: 300_000 })
    .prefault('0')
    .describe('milliseconds between becoming not ready and stopping, so that load balancers notice; default 0'),
  ...tracingFields,
});
export type ServiceConfig = z.infer<typeof serviceConfig>;
export type HttpServiceConfig = Pick<ServiceConfig, 'HOST'> & z.infer<z.ZodObject<typeof httpServiceFields>>;
export type MongodbConfig = z.infer<z.ZodObject<ReturnType<typeof mongodbFields>>>;
export type GrpcServiceConfig = Pick<ServiceConfig, 'HOST'> & z.infer<z.ZodObject<typeof grpcServiceFields>>;
