import { Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js';
import { AppError, type ErrorCode, type ErrorDetail } from '@tollkeeper/kernel';
import { REQUEST_ID_METADATA } from './unary.ts';

/** The status for each error code; the counterpart of `HTTP_STATUS` of the HTTP servers. */
export const GRPC_STATUS: Record<ErrorCode, status> = {
  invalid_request: status.INVALID_ARGUMENT,
  malformed_json: status.INVALID_ARGUMENT,
  workspace_required: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  label_pinned: status.PERMISSION_DENIED,
  cross_site_request: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  method_not_allowed: status.UNIMPLEMENTED,
  conflict: status.ALREADY_EXISTS,
  request_id_reused: status.ALREADY_EXISTS,
  authorization_pending: status.FAILED_PRECONDITION,
  slow_down: status.FAILED_PRECONDITION,
  access_denied: status.PERMISSION_DENIED,
  expired_token: status.FAILED_PRECONDITION,
  payload_too_large: status.RESOURCE_EXHAUSTED,
  unsupported_media_type: status.INVALID_ARGUMENT,
  rate_limited: status.RESOURCE_EXHAUSTED,
  destination_unreachable: status.FAILED_PRECONDITION,
  destination_blocked: status.FAILED_PRECONDITION,
  service_unavailable: status.UNAVAILABLE,
  upstream_timeout: status.DEADLINE_EXCEEDED,
  internal: status.INTERNAL,
};

/** The answer to a failure that is not an `AppError`. */
export const SOMETHING_WENT_WRONG = 'Something went wrong in the service.';

/** Trailing metadata for what a status cannot carry: the code itself, the details, the time to wait. */
const ERROR_METADATA = 'tollkeeper-error-bin';

interface WireError {
  code: ErrorCode;
  details?: ErrorDetail[] | undefined;
  retryAfterSeconds?: number | undefined;
}

/**
 * The status for a failed handler. Anything but an `AppError` becomes INTERNAL with a generic sentence. The trailing
 * metadata contain the request id, which is in every log line about the request.
 */
export function toStatus(error: unknown, requestId: string): Partial<StatusObject> & { code: status } {
  const metadata = new Metadata();
  metadata.set(REQUEST_ID_METADATA, requestId);
  if (!(error instanceof AppError)) {
    return { code: status.INTERNAL, details: SOMETHING_WENT_WRONG, metadata };
  }
  const { code, details, retryAfterSeconds } = error;
  metadata.set(ERROR_METADATA, Buffer.from(JSON.stringify({ code, details, retryAfterSeconds } satisfies WireError)));
  return { code: GRPC_STATUS[code], details: error.message, metadata };
}

/** Whether a call failed because the peer is of a version that does not have the RPC. */
export function isUnimplemented(error: unknown): boolean {
  const cause = error instanceof AppError ? (error.cause as Partial<ServiceError> | undefined) : undefined;
  return cause?.code === status.UNIMPLEMENTED;
}

/**
 * The `AppError` for a failed call. An error of the peer comes back with its code, message and details. A call that did
 * not reach the peer is `service_unavailable`, a slow one `upstream_timeout`. Other transport errors are `internal`,
 * with the status as the cause. `peer` names the service in the message.
 */
export function fromStatus(error: ServiceError, peer: string): AppError {
  const carried = readWireError(error.metadata);
  if (carried !== null) {
    const { code, details, retryAfterSeconds } = carried;
    return new AppError(code, error.details, { details, retryAfterSeconds, cause: error });
  }
  if (error.code === status.UNAVAILABLE) {
    const message = `The ${peer} service cannot be reached right now. Try again shortly.`;
    return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause: error });
  }
  if (error.code === status.DEADLINE_EXCEEDED) {
    const message = `The ${peer} service took too long to answer. Try again shortly.`;
    return new AppError('upstream_timeout', message, { retryAfterSeconds: 1, cause: error });
  }
  return new AppError('internal', `The ${peer} service failed.`, { cause: error });
}

function readWireError(metadata: Metadata): WireError | null {
  const [value] = metadata.get(ERROR_METADATA);
  if (!Buffer.isBuffer(value)) return null;
  try {
    const wire = JSON.parse(value.toString()) as WireError;
    return Object.hasOwn(GRPC_STATUS, wire.code) ? wire : null;
  } catch {
    return null;
  }
}
