import type { AttemptOutcome } from './conclude-attempt.ts';

/** A POST of JSON to a destination. */
export interface DestinationRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Secrets in the request, which must not be stored or shown when the destination repeats them. */
  credentials: readonly string[];
}

/**
 * Sends a request and returns its outcome. Failures of a destination are outcomes, not rejections. Rejects only with
 * the reason of `signal` if that aborts it.
 */
export type SendRequest = (request: DestinationRequest, signal: AbortSignal) => Promise<AttemptOutcome>;
