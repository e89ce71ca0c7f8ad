import { randomBytes } from 'node:crypto';
import type { SessionOrigin } from '../session.ts';
import type { OidcFailure, OidcFailureCode } from './failure.ts';
import type { LogInRequest } from './log-in.store.ts';

/** Longest time from the start of a log-in to its end. */
export const LOG_IN_MS = 600_000;

/**
 * The outcome of a log-in, for metrics and the log. `unknown_log_in`: it was started more than 10 minutes ago, in
 * another browser or at another provider, or was already used.
 */
export type OidcResult = 'logged_in' | 'linked' | 'signed_up' | 'proof_asked' | 'unknown_log_in' | OidcFailureCode;

export type Observe = (
  providerId: string,
  result: OidcResult,
  outcome: { requestId: string; failure?: OidcFailure },
) => void;

/** The next page of the browser, with the new session if the log-in is complete. */
export type Next =
  | { page: 'provider'; url: string; browser: string }
  | { page: 'return'; returnTo: string; cookie: string }
  | { page: 'prove'; linkId: string }
  /** `failureId` is null if nothing is known about the log-in. */
  | { page: 'failed'; failureId: string | null };

/** A browser, its origin, and the cookie of its log-ins; null if it has none. */
export interface Visitor extends SessionOrigin {
  browser: string | null;
  requestId: string;
}

export function requestOf({ address, userAgent, requestId }: Visitor, providerId: string): LogInRequest {
  return { providerId, address, userAgent, requestId };
}

/** 256 random bits. */
export function randomId(): string {
  return randomBytes(32).toString('base64url');
}
