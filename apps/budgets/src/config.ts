import { hostPortField, portField, secretField, serviceConfig } from '@tollkeeper/runtime';
import { z } from 'zod';

/** Environment of the budgets service. */
export const budgetsConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  GRPC_PORT: portField().prefault('9090').describe('port of the gRPC server; default 9090'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address')
    .describe('MongoDB replica set, for example mongodb://mongo-0:27017/?replicaSet=rs0'),
  MONGODB_DATABASE: z.string().min(1).default('tollkeeper_budgets').describe('database; default tollkeeper_budgets'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
});
export type BudgetsConfig = z.infer<typeof budgetsConfig>;
