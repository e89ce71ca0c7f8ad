import type { Channel } from './channel.ts';
import { chatBody } from './chat.body.ts';
import type { Message } from './message.ts';
import type { AttemptOutcome } from './settle-attempt.ts';
import { webhookHeaders } from './standard-webhooks.ts';
import { webhookBody } from './webhook.body.ts';

/** A POST of JSON to a destination. */
export interface DestinationRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends a request and returns its outcome. Failures of a destination are outcomes, not rejections. Rejects with the
 * reason of `signal` when that aborts it.
 */
export type SendRequest = (request: DestinationRequest, signal: AbortSignal) => Promise<AttemptOutcome>;

/**
 * The request that delivers `message` to `channel`. It is signed at `now` (epoch milliseconds) when the channel has a
 * secret.
 */
export function toDestinationRequest(channel: Channel, message: Message, now: number): DestinationRequest {
  const { type, url, signingSecret } = channel;
  const headers = { 'content-type': 'application/json', 'user-agent': 'Tollkeeper' };
  switch (type) {
    case 'chat':
      return { url, headers, body: chatBody(message) };
    case 'webhook': {
      const body = webhookBody(message);
      return { url, headers: { ...headers, ...webhookHeaders(message.id, body, signingSecret, now) }, body };
    }
  }
}
