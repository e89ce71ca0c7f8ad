/** Every error code of Tollkeeper's answers. Transports map them exhaustively. */
export type ErrorCode =
  | 'invalid_request'
  | 'malformed_json'
  | 'workspace_required'
  | 'unauthenticated'
  | 'forbidden'
  | 'label_pinned'
  | 'cross_site_request'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'request_id_reused'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'destination_unreachable'
  | 'destination_blocked'
  | 'service_unavailable'
  | 'upstream_timeout'
  | 'internal';

/**
 * One problem in the input: `path` names the field (`data.amount_micros`, `[3].time`), `message` says how to fix it.
 */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** The part of a library's error that a caller may see; undefined if that is only that something went wrong. */
export type ExplainError = (error: unknown) => AppError | undefined;

export interface AppErrorOptions {
  details?: ErrorDetail[] | undefined;
  /** Whole seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  /** Methods that the path supports; becomes `Allow`. */
  allow?: string[] | undefined;
  /** The underlying error. Logged, never answered. */
  cause?: unknown;
}

/**
 * A failure that the caller may see: `message` is a readable sentence and never contains a secret, a query or a stack.
 * Any other thrown value is answered as `internal` with a generic sentence.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string[] | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }
}
