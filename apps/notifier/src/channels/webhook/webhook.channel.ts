import { z } from 'zod';
import { channelKind, JSON_HEADERS, LONG_PAUSES_MS } from '../channel.kind.ts';
import { signingSecret } from './signing.secret.ts';
import { webhookHeaders } from './standard-webhooks.ts';
import { webhookBody } from './webhook.body.ts';

/** A receiver of Standard Webhooks. */
export const webhook = channelKind({
  description: 'Standard Webhooks',
  config: (url) => z.strictObject({ url, signing_secret: signingSecret.optional() }),
  shown: z.object({ url: z.string(), signing_secret_set: z.boolean() }),
  show: ({ url, signing_secret }) => ({ url, signing_secret_set: signing_secret !== undefined }),
  address: ({ url }) => url,
  // Only signatures are sent, never the secret.
  credentials: () => ({}),
  auditedAs: { url: 'url', signing_secret: 'signing_secret' },
  request({ url, signing_secret = null }, message, now) {
    const body = webhookBody(message);
    return {
      via: 'https',
      url,
      headers: { ...JSON_HEADERS, ...webhookHeaders(message.id, body, signing_secret, now) },
      body,
    };
  },
  retryPausesMs: LONG_PAUSES_MS,
});
