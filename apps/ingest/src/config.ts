import { hostPortField, integerField, portField, secretField, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

/** Environment of the ingest service. */
export const ingestConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
  KEYS_GRPC: hostPortField().describe('host:port of the keys service'),
  CALLER_TOKEN_SECRET: secretField({ minLength: 32 }).describe(
    'at least 32 characters, the same in the gateway and all services',
  ),
  BODY_BUDGET_BYTES: integerField({ min: 1, max: 1024 * MIB })
    .prefault(String(64 * MIB))
    .describe(
      'bytes that all bodies under way may take together; beyond it requests get 503; default 67108864 (64 MiB)',
    ),
});
export type IngestConfig = z.infer<typeof ingestConfig>;
