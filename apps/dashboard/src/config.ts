import { cidrListField } from '@tollkeeper/net';
import { operatorPriceFields } from '@tollkeeper/price-sources';
import {
  grpcServiceFields,
  hostPortField,
  httpServiceFields,
  integerField,
  mongodbFields,
  secret,
  serviceConfig,
} from '@tollkeeper/runtime';
import { encryptionKeysField } from '@tollkeeper/service';
import type { z } from 'zod';

const DAY_SECONDS = 86_400;

/** Environment of the dashboard service. */
export const dashboardConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_dashboard'),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
  BUDGETS_GRPC: hostPortField().describe('host:port of the budgets service'),
  ENFORCER_GRPC: hostPortField().describe('host:port of the enforcer'),
  CHANNEL_ENCRYPTION_KEYS: secret(
    encryptionKeysField().describe(
      'encryption keys of the secrets of scheduled exports: the same as those of the notifier (docs/runbook.md)',
    ),
  ),
  DESTINATION_ALLOW_CIDRS: cidrListField().describe(
    'private or special networks that scheduled exports may be sent to, as for channels; default none',
  ),
  ...operatorPriceFields,
  RETENTION_SECONDS: integerField({ min: 100 * DAY_SECONDS, max: 2_147_483_647 })
    .prefault(String(100 * DAY_SECONDS))
    .describe(
      'seconds to keep events and runs after their own time; at least 100 days (8640000), the default. Roll-ups are kept as long, but for at least 802 days',
    ),
});
export type DashboardConfig = z.infer<typeof dashboardConfig>;
