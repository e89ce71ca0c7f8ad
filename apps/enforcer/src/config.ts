import { operatorPriceFields } from '@tollkeeper/price-sources';
import {
  grpcServiceFields,
  hostPortField,
  httpServiceFields,
  integerField,
  mongodbFields,
  serviceConfig,
} from '@tollkeeper/runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

export const enforcerConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_enforcer'),
  KEYS_GRPC: hostPortField().describe('host:port of keys'),
  BUDGETS_GRPC: hostPortField().describe('host:port of budgets'),
  IDENTITY_GRPC: hostPortField().describe('host:port of identity'),
  DASHBOARD_GRPC: hostPortField().describe('host:port of the dashboard'),
  ...operatorPriceFields,
  WORKSPACE_CALLS_PER_SECOND: integerField({ min: 1, max: 10_000_000 })
    .prefault('2000')
    .describe(
      'calls per second that the gateways of each workspace may make to this replica; further calls get 429; default 2000',
    ),
  WORKSPACE_BURST_CALLS: integerField({ min: 1, max: 10_000_000 })
    .prefault('20000')
    .describe('calls that the gateways of a workspace may make at once after a pause; default 20000'),
  LEDGER_BUDGET_BYTES: integerField({ min: 1, max: 1_024 * MIB })
    .prefault(String(128 * MIB))
    .describe(
      'maximum bytes of memory for all ledgers; above it the least recently used are unloaded and read again when needed; default 134217728 (128 MiB)',
    ),
});
export type EnforcerConfig = z.infer<typeof enforcerConfig>;
