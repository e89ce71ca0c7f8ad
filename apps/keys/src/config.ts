import { integerField, portField, secretField, serviceConfig } from '@tollkeeper/runtime';
import { z } from 'zod';

/** Environment of the keys service. */
export const keysConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  GRPC_PORT: portField().prefault('9090').describe('port of the gRPC server; default 9090'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address')
    .describe('MongoDB replica set, for example mongodb://mongo-0:27017/?replicaSet=rs0'),
  MONGODB_DATABASE: z.string().min(1).default('tollkeeper_keys').describe('database; default tollkeeper_keys'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
  LAST_USED_FLUSH_MS: integerField({ min: 10, max: 50_000 })
    .prefault('20000')
    .describe(
      'milliseconds between writes of last_used_at, at most 50000 so that it stays under a minute; default 20000',
    ),
});
export type KeysConfig = z.infer<typeof keysConfig>;
