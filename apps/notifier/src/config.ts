import { hasSender, mailFields } from '@tollkeeper/mail';
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
import { encryptionKeysField } from '@tollkeeper/service';
import type { z } from 'zod';

export const notifierConfig = serviceConfig
  .extend({
    ...httpServiceFields,
    ...grpcServiceFields,
    ...mongodbFields('tollkeeper_notifier'),
    IDENTITY_GRPC: hostPortField().describe('host:port of the identity service'),
    PUBLIC_URL: httpOriginField().describe('public origin of the gateway, such as https://tollkeeper.example.com'),
    CHANNEL_ENCRYPTION_KEYS: secret(
      encryptionKeysField().describe(
        'encryption keys of channel secrets, <id>:<base64 of 32 random bytes>, separated by commas: the first key encrypts, all keys ' +
          'decrypt. docs/runbook.md says how to change them',
      ),
    ),
    DESTINATION_ALLOW_CIDRS: cidrListField().describe(
      'private or special networks that channels may send to, separated by commas; metadata addresses of clouds must be ' +
        'listed one by one (/32, /128); default none',
    ),
    DELIVERY_CONCURRENCY: integerField({ min: 2, max: 1000 })
      .prefault('100')
      .describe(
        'maximum quick deliveries in progress in this process, and as many that take over 2 s, 2 to 1000; default 100',
      ),
    POLL_INTERVAL_MS: integerField({ min: 10, max: 10_000 })
      .prefault('500')
      .describe('milliseconds between checks for due deliveries; default 500'),
    ...mailFields,
  })
  .refine(hasSender, { path: ['MAIL_FROM'] });
export type NotifierConfig = z.infer<typeof notifierConfig>;
