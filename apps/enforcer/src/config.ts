import { grpcServiceFields, hostPortField, httpServiceFields, mongodbFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of enforcer. */
export const enforcerConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_enforcer'),
  KEYS_GRPC: hostPortField().describe('host:port of keys'),
  BUDGETS_GRPC: hostPortField().describe('host:port of budgets'),
  IDENTITY_GRPC: hostPortField().describe('host:port of identity'),
});
export type EnforcerConfig = z.infer<typeof enforcerConfig>;
