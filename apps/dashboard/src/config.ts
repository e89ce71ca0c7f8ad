import { hostPortField, integerField, portField, secretField, serviceConfig } from '@tollkeeper/runtime';
import { z } from 'zod';

const DAY_SECONDS = 86_400;

/** Environment of the dashboard service. */
export const dashboardConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address')
    .describe('MongoDB replica set, for example mongodb://mongo-0:27017/?replicaSet=rs0'),
  MONGODB_DATABASE: z
    .string()
    .min(1)
    .default('tollkeeper_dashboard')
    .describe('database; default tollkeeper_dashboard'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
  BUDGETS_GRPC: hostPortField().describe('host:port of the budgets service'),
  RETENTION_SECONDS: integerField({ min: 100 * DAY_SECONDS, max: 2_147_483_647 })
    .prefault(String(100 * DAY_SECONDS))
    .describe('seconds that events and roll-ups are kept after their time; at least 100 days (8640000), the default'),
});
export type DashboardConfig = z.infer<typeof dashboardConfig>;
