import { cidrListField } from '@tollkeeper/net';
import {
  grpcServiceFields,
  hostPortField,
  httpServiceFields,
  integerField,
  mongodbFields,
  secret,
  serviceConfig,
} from '@tollkeeper/runtime';
import { z } from 'zod';
import type { EncryptionKey } from './store/secret.cipher.ts';

const DAY_SECONDS = 86_400;
const KEY_BYTES = 32;
const KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `id:base64,id:base64`; every problem is told without the text, which is secret. */
function encryptionKeysField() {
  return z.string().transform((text, ctx): EncryptionKey[] => {
    const keys: EncryptionKey[] = [];
    for (const [index, part] of text.split(',').entries()) {
      const [, id = '', base64 = ''] = KEY.exec(part.trim()) ?? [];
      const key = Buffer.from(base64, 'base64');
      if (key.length !== KEY_BYTES) {
        ctx.addIssue({ code: 'custom', message: `key ${index + 1} must be <id>:<base64 of ${KEY_BYTES} bytes>` });
      } else if (keys.some((other) => other.id === id)) {
        ctx.addIssue({ code: 'custom', message: `key ${index + 1} has the id of another one` });
      } else {
        keys.push({ id, key });
      }
    }
    return keys;
  });
}

/** Environment of the alerts service. */
export const alertsConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_alerts'),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
  NOTIFIER_GRPC: hostPortField().describe('host:port of the notifier'),
  CHANNEL_ENCRYPTION_KEYS: secret(
    encryptionKeysField().describe(
      'keys of the channel secrets, <id>:<base64 of 32 random bytes>, separated by commas: the first one encrypts, all of them ' +
        'decrypt. docs/runbook.md says how to change them',
    ),
  ),
  DESTINATION_ALLOW_CIDRS: cidrListField().describe(
    'networks, separated by commas, that channels may lead to though their addresses are special; metadata addresses of clouds are ' +
      'opened one by one (/32, /128) alone; default none',
  ),
  EVALUATION_INTERVAL_MS: integerField({ min: 10, max: 1000 })
    .prefault('1000')
    .describe('milliseconds between looks for alerts that are over, 10 to 1000; default 1000'),
  WINDOW_MEMORY_BYTES: integerField({ min: 1_000_000, max: 64 * 2 ** 30 })
    .prefault(String(256 * 2 ** 20))
    .describe(
      'bytes of memory that the windows of rules may take in the process, outside of the heap; 1000000 to 64 GiB, default 256 MiB ' +
        '(268435456), a third of the memory of its pod. Those of one workspace may take 80 MB. Where the windows of busy workspaces do ' +
        'not fit, the largest workspace is not evaluated until there is room',
    ),
  HISTORY_RETENTION_SECONDS: integerField({ min: 30 * DAY_SECONDS, max: 2_147_483_647 })
    .prefault(String(400 * DAY_SECONDS))
    .describe(
      'seconds that an alert is kept after it resolved, and a delivery after it was queued; at least 30 days (2592000), default 400 days (34560000)',
    ),
  DISPATCH_INTERVAL_MS: integerField({ min: 10, max: 10_000 })
    .prefault('1000')
    .describe('milliseconds between looks for notifications that another replica left behind; default 1000'),
});
export type AlertsConfig = z.infer<typeof alertsConfig>;
