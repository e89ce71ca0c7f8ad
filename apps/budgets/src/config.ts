import { grpcServiceFields, hostPortField, httpServiceFields, mongodbFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

export const budgetsConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_budgets'),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
});
export type BudgetsConfig = z.infer<typeof budgetsConfig>;
