import { httpOriginField, portField, secretField, serviceConfig } from '@tollkeeper/runtime';
import { z } from 'zod';

const mongoUri = z.string().regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address');

/** Environment of the identity service. */
export const identityConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  GRPC_PORT: portField().prefault('9090').describe('port of the gRPC server; default 9090'),
  MONGODB_URI: mongoUri.describe('MongoDB replica set, for example mongodb://mongo-0:27017/?replicaSet=rs0'),
  MONGODB_DATABASE: z.string().min(1).default('tollkeeper_identity').describe('database; default tollkeeper_identity'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
  PUBLIC_URL: httpOriginField().describe(
    'where browsers reach the gateway, e.g. https://tollkeeper.example.com; session cookies are Secure unless it is http on a loopback host',
  ),
});
export type IdentityConfig = z.infer<typeof identityConfig>;
