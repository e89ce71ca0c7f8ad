import { AppError } from '@tollkeeper/kernel';
import type { ErrorCode, ErrorDetail } from '@tollkeeper/kernel';

/** The HTTP status of every error code. */
export const HTTP_STATUS: Record<ErrorCode, number> = {
  invalid_request: 400,
  malformed_json: 400,
  workspace_required: 400,
  // RFC 8628 §3.5: 400 for all that a poll may get.
  authorization_pending: 400,
  slow_down: 400,
  access_denied: 400,
  expired_token: 400,
  unauthenticated: 401,
  forbidden: 403,
  label_pinned: 403,
  cross_site_request: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  request_id_reused: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  destination_unreachable: 502,
  destination_blocked: 502,
  service_unavailable: 503,
  upstream_timeout: 504,
};

/** The body of every error answer, as described by `errorBodySchema` in the contracts. */
interface ErrorBody {
  error: string;
  code: ErrorCode;
  details?: ErrorDetail[];
  request_id: string;
}

/** An error answer without its `X-Request-Id`. `headers` has `Retry-After` and `Allow` if they apply. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: ErrorBody;
}

/** Requests to unavailable or slow services are worth a retry; the answer says when. */
const DEFAULT_RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  rate_limited: 60,
  service_unavailable: 5,
  upstream_timeout: 5,
};

/** The complete answer to `error`. Errors other than {@link AppError} become `internal`, without their message. */
export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const { code, message, details, retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS[code], allow } = toAppError(error);
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (allow !== undefined) headers['allow'] = allow.join(', ');
  const body = { error: message, code, ...(details !== undefined && { details }), request_id: requestId };
  return { status: HTTP_STATUS[code], headers, body };
}

const INTERNAL = new AppError(
  'internal',
  'Something went wrong on our side. Quote the request id when asking for help.',
);

/** The part of a thrown value that a caller may see. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Error) {
    if (error instanceof URIError) {
      return new AppError('invalid_request', 'The path contains percent-encoding that is not valid UTF-8.');
    }
    // Some parts of express signal a client's error only by a status.
    if ('status' in error && error.status === 400)
      return new AppError('invalid_request', 'The request cannot be read.');
  }
  return INTERNAL;
}
