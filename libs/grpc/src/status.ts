import { Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js';
import { AppError, type ErrorCode, type ErrorDetail } from '@tollkeeper/kernel';
import { REQUEST_ID_METADATA } from './unary.ts';

/** The status that each error code travels as; beside `HTTP_STATUS` of the HTTP servers. */
export const GRPC_STATUS: Record<ErrorCode, status> = {
  invalid_request: status.INVALID_ARGUMENT,
  malformed_json: status.INVALID_ARGUMENT,
  workspace_required: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  cross_site_request: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  method_not_allowed: status.UNIMPLEMENTED,
  conflict: status.ALREADY_EXISTS,
  request_id_reused: status.ALREADY_EXISTS,
  payload_too_large: status.RESOURCE_EXHAUSTED,
  unsupported_media_type: status.INVALID_ARGUMENT,
  rate_limited: status.RESOURCE_EXHAUSTED,
  destination_unreachable: status.FAILED_PRECONDITION,
  destination_blocked: status.FAILED_PRECONDITION,
  service_unavailable: status.UNAVAILABLE,
  upstream_timeout: status.DEADLINE_EXCEEDED,
  internal: status.INTERNAL,
};

/** The answer to a failure that is no `AppError`. */
export const SOMETHING_WENT_WRONG = 'Something went wrong in the service.';

/** Trailing metadata that carries what a status has no room for: the code itself, the details, the time to wait. */
const ERROR_METADATA = 'tollkeeper-error-bin';

interface WireError {
  code: ErrorCode;
  details?: ErrorDetail[] | undefined;
  retryAfterSeconds?: number | undefined;
}

/**
 * The status that a failed handler answers with. Anything but an `AppError` becomes INTERNAL with a generic sentence.
 * The trailing metadata has the id of the request, which is on every log line about it.
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

/**
 * The `AppError` that a failed call rejects with. An error of the peer's own comes back with its code, message and
 * details. A call that never got there is `service_unavailable`, one that took too long `upstream_timeout`; whatever
 * else the transport says is `internal`, with the status as the cause. `peer` names the service in the sentence.
 */
export function fromStatus(error: ServiceError, peer: string): AppError {
  const carried = readWireError(error.metadata);
  if (carried !== null) {
    const { code, details, retryAfterSeconds } = carried;
    return new AppError(code, error.details, { details, retryAfterSeconds, cause: error });
  }
  if (error.code === status.UNAVAILABLE) {
    const message = `The ${peer} service can't be reached just now. Try again shortly.`;
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
