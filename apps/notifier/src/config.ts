import { cidrListField } from '@tollkeeper/net';
import {
  grpcServiceFields,
  hostPortField,
  httpOriginField,
  httpServiceFields,
  integerField,
  mongodbFields,
  secret,
  serviceConfig,
} from '@tollkeeper/runtime';
import type { z } from 'zod';
import { encryptionKeysField } from './channels/encryption.keys.ts';

export const notifierConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_notifier'),
  IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
  PUBLIC_URL: httpOriginField().describe('address that browsers use, such as https://tollkeeper.example.com'),
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
  DELIVERY_CONCURRENCY: integerField({ min: 2, max: 1000 })
    .prefault('100')
    .describe(
      'most quick deliveries in progress at the same time in this process, and as many that take over 2 s, 2 to 1000; default 100',
    ),
  POLL_INTERVAL_MS: integerField({ min: 10, max: 10_000 })
    .prefault('500')
    .describe('milliseconds between looks for deliveries that are due; default 500'),
});
export type NotifierConfig = z.infer<typeof notifierConfig>;
