import { INTAKE_PATHS, MAX_EVENTS_PER_BATCH } from '@tollkeeper/contracts';
import { operatorPriceFields } from '@tollkeeper/price-sources';
import { hostPortField, httpServiceFields, integerField, portField, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

export const ingestConfig = serviceConfig.extend({
  ...httpServiceFields,
  OTLP_PORT: portField().prefault('4317').describe('port for OTLP over gRPC; default 4317'),
  KEYS_GRPC: hostPortField().describe('host:port of the keys service'),
  IDENTITY_GRPC: hostPortField().describe('host:port of identity, which has the labels of agents'),
  BUDGETS_GRPC: hostPortField().describe('host:port of budgets, which has the prices of workspaces'),
  ...operatorPriceFields,
  BODY_BUDGET_BYTES: integerField({ min: 1, max: 1024 * MIB })
    .prefault(String(64 * MIB))
    .describe('maximum bytes of all request bodies in memory; further requests get 503; default 67108864 (64 MiB)'),
  WORKSPACE_EVENTS_PER_SECOND: integerField({ min: 1, max: 10_000_000 })
    .prefault('2000')
    .describe('events per second that each workspace may send to this replica; further requests get 429; default 2000'),
  WORKSPACE_BURST_EVENTS: integerField({ min: MAX_EVENTS_PER_BATCH, max: 10_000_000 })
    .prefault('20000')
    .describe('events that a workspace may send at once after a pause, at least the 1000 of a batch; default 20000'),
  WORKSPACE_BYTES_PER_SECOND: integerField({ min: 1, max: 1_000_000_000 })
    .prefault('1000000')
    .describe(
      'bytes of decompressed bodies per second that each workspace may send to this replica; further requests get 429; default 1000000',
    ),
  WORKSPACE_BURST_BYTES: integerField({ min: INTAKE_PATHS.events.maxBytes, max: 100_000_000_000 })
    .prefault('20000000')
    .describe(
      'bytes that a workspace may send at once after a pause, at least the 5242880 (5 MiB) of a body; default 20000000',
    ),
});
export type IngestConfig = z.infer<typeof ingestConfig>;
