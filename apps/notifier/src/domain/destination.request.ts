import type { TenantId } from '@tollkeeper/kernel';
import type { AttemptOutcome } from './conclude-attempt.ts';
import type { Message } from './message.ts';

/** A POST of JSON to a destination. */
export interface HttpsRequest {
  via: 'https';
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Secrets in the request, which must not be stored or shown when the destination repeats them. */
  credentials: readonly string[];
}

/** A mail about `message` to each reader of a channel who has confirmed the address. */
export interface MailRequest {
  via: 'mail';
  tenantId: TenantId;
  channelId: string;
  addresses: readonly string[];
  message: Message;
}

export type DestinationRequest = HttpsRequest | MailRequest;

/**
 * Sends a request and returns its outcome. Failures of a destination are outcomes, not rejections. Rejects only with
 * the reason of `signal` if that aborts it.
 */
export type Send<Request extends DestinationRequest> = (
  request: Request,
  signal: AbortSignal,
) => Promise<AttemptOutcome>;
export type SendRequest = Send<DestinationRequest>;
