import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { Claims } from '../domain/oidc/claims.ts';
import { OidcFailure } from '../domain/oidc/failure.ts';

/** The request to the provider that failed. */
export interface Asked {
  issuer: string;
  clockToleranceSeconds: number;
}

/** What the library reports in `cause`. Some of it is an answer with tokens, so only these fields are read. */
interface Details {
  claims?: Claims;
  claim?: string;
  expected?: unknown;
  attribute?: string;
  body?: Claims;
  parameters?: URLSearchParams;
  now?: number;
  status?: number;
}

/**
 * Describes in our words what the library found wrong. The error itself is dropped: its causes hold whole answers of
 * the provider, with tokens, which would get into the log.
 */
export function toOidcFailure(error: unknown, asked: Asked): OidcFailure {
  if (error instanceof OidcFailure) return error;
  if (error instanceof AuthorizationResponseError) {
    return new OidcFailure('log_in_refused', { error: error.error, description: error.error_description });
  }
  if (error instanceof ResponseBodyError) {
    const facts = { error: error.error, description: error.error_description };
    return new OidcFailure(isAboutClient(error.error, error.status) ? 'client_refused' : 'code_refused', facts);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    const { parameters } = error.cause[0] ?? {};
    const facts = { error: parameters?.['error'], description: parameters?.['error_description'] };
    return new OidcFailure('client_refused', facts);
  }
  if (error instanceof ClientError) return ofClientError(error, asked);
  return unreachable(error, asked) ?? new OidcFailure('provider_invalid', { problem: messageOf(error) });
}

function isAboutClient(error: string, status: number): boolean {
  return status === 401 || error === 'invalid_client' || error === 'unauthorized_client';
}

function ofClientError(error: ClientError, asked: Asked): OidcFailure {
  if (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT') {
    return new OidcFailure('provider_unreachable', { host: hostOf(asked.issuer), problem: 'timeout' });
  }
  const details = detailsOf(error);
  const problem = messageOf(error.cause instanceof Error ? error.cause : error);
  switch (error.code) {
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      if (details.attribute === 'sub') return new OidcFailure('subject_mismatch');
      return new OidcFailure('issuer_mismatch', { expected: asked.issuer, got: details.body?.['issuer'] });
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return ofClaim(details, problem);
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return clockOff(details.claims ?? {}, asked);
    case 'OAUTH_INVALID_RESPONSE':
      return ofInvalidResponse(details, problem);
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return new OidcFailure('provider_invalid', { problem: `HTTP ${details.status ?? ''}` });
    case 'OAUTH_KEY_SELECTION_FAILED':
      return new OidcFailure('token_invalid', { problem });
    default:
      return unreachable(error.cause, asked) ?? new OidcFailure('provider_invalid', { problem });
  }
}

function ofClaim({ claim, expected, claims }: Details, problem: string): OidcFailure {
  if (claim === 'iss') return new OidcFailure('issuer_mismatch', { expected, got: claims?.['iss'] });
  if (claim === 'aud' || claim === 'azp') {
    return new OidcFailure('token_invalid', { claim, expected, got: claims?.[claim], problem });
  }
  return new OidcFailure('token_invalid', { claim, problem });
}

function ofInvalidResponse({ parameters, expected, body }: Details, problem: string): OidcFailure {
  const missing = /^JWT "(\w+)" .* claim missing$/.exec(problem)?.[1];
  if (missing !== undefined) return new OidcFailure('claim_missing', { claim: missing });
  if (parameters?.has('iss') === true && problem.includes('"iss"')) {
    return new OidcFailure('issuer_mismatch', { expected, got: parameters.get('iss') });
  }
  if (body !== undefined && problem.includes('"sub"')) return new OidcFailure('claim_missing', { claim: 'sub' });
  return new OidcFailure('token_invalid', { problem });
}

/** The difference of the clocks: the token was issued just now. Uses the system clock, as the library does. */
export function clockOff(claims: Claims, { clockToleranceSeconds }: Asked): OidcFailure {
  const issued = Number(claims['iat'] ?? claims['nbf'] ?? claims['exp']);
  const seconds = Math.round(issued - Date.now() / 1000);
  return new OidcFailure('clock_off', { seconds, tolerance: clockToleranceSeconds });
}

/** Errors of sockets, TLS and DNS have a code. */
function unreachable(error: unknown, { issuer }: Asked): OidcFailure | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error) || typeof error.code !== 'string') {
    return undefined;
  }
  if (error.code.startsWith('OAUTH_') || error.code.startsWith('ERR_INVALID_ARG')) return undefined;
  return new OidcFailure('provider_unreachable', { host: hostOf(issuer), problem: error.code });
}

function detailsOf(error: Error): Details {
  const { cause } = error;
  const details = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  return typeof details === 'object' && details !== null ? (details as Details) : {};
}

/** The library's message, which contains no values. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

function hostOf(issuer: string): string {
  return new URL(issuer).host;
}
