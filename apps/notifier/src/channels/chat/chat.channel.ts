import { z } from 'zod';
import { channelKind, JSON_HEADERS, SHORT_PAUSES_MS } from '../channel.kind.ts';
import { maskUrl } from '../destination.ts';
import { chatBody } from './chat.body.ts';

/** The incoming webhook of a chat service. */
export const chat = channelKind({
  description: 'incoming webhook of a chat service',
  config: (url) => z.strictObject({ webhook_url: url }),
  shown: z.object({
    webhook_url: z.string().meta({ description: 'The URL with its secret path masked' }),
  }),
  show: ({ webhook_url }) => ({ webhook_url: maskUrl(webhook_url) }),
  address: ({ webhook_url }) => webhook_url,
  auditedAs: { webhook_url: 'url' },
  request: ({ webhook_url }, message) => ({ url: webhook_url, headers: JSON_HEADERS, body: chatBody(message) }),
  // A chat message is of no use hours later.
  retryPausesMs: SHORT_PAUSES_MS,
});
