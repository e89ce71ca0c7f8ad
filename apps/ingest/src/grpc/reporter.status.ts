import { GRPC_STATUS } from '@tollkeeper/grpc';
import { errorAnswer } from '@tollkeeper/http';
import type { AppError, ErrorCode } from '@tollkeeper/kernel';
import type { Failure } from '../intake/otlp-answer.ts';

/**
 * The status for each error code. Exporters send again after UNAVAILABLE, and after RESOURCE_EXHAUSTED, some of them
 * only if it says when. So what never fits is INVALID_ARGUMENT, and nothing is INTERNAL, after which a batch is lost.
 */
const REPORTER_STATUS: Record<ErrorCode, number> = {
  ...GRPC_STATUS,
  payload_too_large: GRPC_STATUS.invalid_request,
  unsupported_media_type: GRPC_STATUS.method_not_allowed,
  not_found: GRPC_STATUS.method_not_allowed,
  upstream_timeout: GRPC_STATUS.service_unavailable,
  internal: GRPC_STATUS.service_unavailable,
};

/** What a sender of telemetry gets for an error, as in the answers over HTTP. */
export function failureOf(error: AppError, requestId: string): Failure {
  const { headers, body } = errorAnswer(error, requestId);
  const retryAfter = headers['retry-after'];
  return {
    code: REPORTER_STATUS[body.code],
    message: body.error,
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
  };
}
