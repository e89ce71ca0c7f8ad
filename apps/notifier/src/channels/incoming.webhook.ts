import { z } from 'zod';
import type { Message } from '../domain/message.ts';
import { channelKind, JSON_HEADERS, SHORT_PAUSES_MS } from './channel.kind.ts';
import { maskUrl } from './destination.ts';

/** The incoming webhook of a chat service. Its URL is the secret. */
export function incomingWebhook(description: string, bodyOf: (message: Message) => string) {
  return channelKind({
    description,
    config: (url) => z.strictObject({ webhook_url: url }),
    shown: z.object({
      webhook_url: z.string().meta({ description: 'The URL with its secret path masked' }),
    }),
    show: ({ webhook_url }) => ({ webhook_url: maskUrl(webhook_url) }),
    address: ({ webhook_url }) => webhook_url,
    credentials: () => ({}),
    auditedAs: { webhook_url: 'url' },
    request: ({ webhook_url }, message) => ({
      via: 'https',
      url: webhook_url,
      headers: JSON_HEADERS,
      body: bodyOf(message),
    }),
    // A chat message is of no use hours later.
    retryPausesMs: SHORT_PAUSES_MS,
  });
}
