import { hostPortField, httpServiceFields, integerField, mongodbFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

const DAY_SECONDS = 86_400;

export const alertsConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...mongodbFields('tollkeeper_alerts'),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
  BUDGETS_GRPC: hostPortField().describe('host:port of the budgets service'),
  NOTIFIER_GRPC: hostPortField().describe('host:port of the notifier'),
  EVALUATION_INTERVAL_MS: integerField({ min: 10, max: 1000 })
    .prefault('1000')
    .describe('milliseconds between checks for alerts to resolve, 10 to 1000; default 1000'),
  WINDOW_MEMORY_BYTES: integerField({ min: 1_000_000, max: 64 * 2 ** 30 })
    .prefault(String(256 * 2 ** 20))
    .describe(
      'maximum bytes of off-heap memory for the windows of rules in this process, 1000000 to 64 GiB; default 256 MiB ' +
        '(268435456), a third of the memory of the pod. One workspace may use 80 MB. If the windows of busy workspaces do ' +
        'not fit, the largest workspace is not evaluated until there is room',
    ),
  HISTORY_RETENTION_SECONDS: integerField({ min: 30 * DAY_SECONDS, max: 2_147_483_647 })
    .prefault(String(400 * DAY_SECONDS))
    .describe(
      'seconds to keep an alert after it resolved and a delivery after it was queued; at least 30 days (2592000), default 400 days (34560000)',
    ),
  DISPATCH_INTERVAL_MS: integerField({ min: 10, max: 10_000 })
    .prefault('1000')
    .describe(
      'milliseconds between checks for notifications that another replica left behind, and for those that no silence or maintenance window holds back any longer; default 1000',
    ),
});
export type AlertsConfig = z.infer<typeof alertsConfig>;
