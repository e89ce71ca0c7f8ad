import { cidrTextField } from '@tollkeeper/net';
import { integerField, mongodbUriField, portField, secret, serviceConfig } from '@tollkeeper/runtime';
import { OPTIONAL_FOR_IDENTITY, TOPOLOGY } from '@tollkeeper/topology';
import { z } from 'zod';

/** Identity validates them. */
const optionalForIdentity = Object.fromEntries(
  OPTIONAL_FOR_IDENTITY.map((name) => {
    const field = z.string().optional().describe('as identity takes it (apps/identity/README.md)');
    const isSecret = (TOPOLOGY.identity.secrets as readonly string[]).includes(name);
    return [name, isSecret ? secret(field) : field];
  }),
) as Record<(typeof OPTIONAL_FOR_IDENTITY)[number], z.ZodOptional<z.ZodString>>;

/** Environment of `npm run fleet`. `MONGOD_BINARY` and `JAVA_HOME` are read where `mongod` and Java are located. */
export const fleetConfig = z.object({
  PORT: portField().prefault('8080').describe('port of the API; 0 for a free one; default 8080'),
  OTLP_PORT: portField()
    .prefault('4317')
    .describe('port of OTLP over gRPC; another one if it is taken; 0 for any free port; default 4317'),
  TOLLKEEPER_DATA_DIR: z
    .string()
    .default('.tollkeeper')
    .describe('data directory, in which the fleet uses fleet/; default .tollkeeper'),
  MONGODB_URI: mongodbUriField().optional().describe('MongoDB replica set to use instead of the managed one'),
  FLEET_MONGODB_MEMBERS: z
    .enum(['1', '3'], 'must be 1 or 3')
    .default('1')
    .transform((text) => (text === '3' ? 3 : 1))
    .describe('members of the managed replica set, 1 or 3; default 1'),
  KAFKA_BROKERS: z
    .string()
    .optional()
    .describe('host:port,host:port of an Apache Kafka to use instead of the managed one'),
  KAFKA_REPLICATION_FACTOR: integerField({ min: 1, max: 9 })
    .prefault('1')
    .describe('copies of each record that your Kafka keeps; default 1'),
  FIRST_OWNER_EMAIL: z
    .email('must be an e-mail address')
    .default('owner@example.com')
    .describe('e-mail of the owner created at the first start; default owner@example.com'),
  FIRST_OWNER_PASSWORD: z
    .string()
    .min(12, 'must have at least 12 characters')
    .max(200, 'must have at most 200 characters')
    .optional()
    .describe('password of the owner created at the first start, 12 to 200 characters; default a random one'),
  TOLLKEEPER_ALLOW_CIDRS: cidrTextField().describe(
    'private or special networks that alert channels may send to; default none',
  ),
  ...optionalForIdentity,
  LOG_LEVEL: serviceConfig.shape.LOG_LEVEL.unwrap()
    .default('info')
    .describe('fatal, error, warn, info, debug, trace or silent; default info'),
});

/**
 * Variables that services read directly: private certificate authorities, the destination of traces, and the quotas of
 * workspaces.
 */
const PASSED_ON = /^(NODE_EXTRA_CA_CERTS|OTEL_.+|WORKSPACE_(EVENTS|BYTES)_PER_SECOND|WORKSPACE_BURST_(EVENTS|BYTES))$/;

/** The part of the environment that services get unchanged. */
export function passedOn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));
}
