import { hostPortField, httpServiceFields, integerField, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

/** Environment of the ingest service. */
export const ingestConfig = serviceConfig.extend({
  ...httpServiceFields,
  KEYS_GRPC: hostPortField().describe('host:port of the keys service'),
  BODY_BUDGET_BYTES: integerField({ min: 1, max: 1024 * MIB })
    .prefault(String(64 * MIB))
    .describe(
      'bytes that all bodies under way may take together; beyond it requests get 503; default 67108864 (64 MiB)',
    ),
});
export type IngestConfig = z.infer<typeof ingestConfig>;
