import { AppError } from '@tollkeeper/kernel';
import type { ErrorCode, ErrorDetail } from '@tollkeeper/kernel';

/** The HTTP status of every error code. */
export const HTTP_STATUS: Record<ErrorCode, number> = {
  invalid_request: 400,
  malformed_json: 400,
  workspace_required: 400,
  unauthenticated: 401,
  forbidden: 403,
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

/** The body of every error answer; `errorBodySchema` of the contracts describes it. */
interface ErrorBody {
  error: string;
  code: ErrorCode;
  details?: ErrorDetail[];
  request_id: string;
}

/**
 * Everything of an error answer but its `X-Request-Id`: `Retry-After` and `Allow` stand in `headers` where they apply.
 */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: ErrorBody;
}

/** Unavailable and too slow services are worth another try; the answer says when. */
const DEFAULT_RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  rate_limited: 60,
  service_unavailable: 5,
  upstream_timeout: 5,
};

/** The whole answer to `error`. Any other error than an {@link AppError} becomes `internal`, without its message. */
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

/** The part of any thrown value that a caller may see. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Error) {
    if (error instanceof URIError) {
      return new AppError('invalid_request', 'The path holds a percent-encoding that is not UTF-8 text.');
    }
    // Parts of express tell only by a status that the client is at fault.
    if ('status' in error && error.status === 400)
      return new AppError('invalid_request', 'The request cannot be read.');
  }
  return INTERNAL;
}
