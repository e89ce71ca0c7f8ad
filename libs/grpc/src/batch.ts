import { status } from '@grpc/grpc-js';
import { MAX_BATCH_REQUESTS } from '@tollkeeper/contracts';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';
import { checkRequest } from './request-check.ts';
import { GRPC_STATUS, SOMETHING_WENT_WRONG } from './status.ts';
import type { AnswerEach, RequestRefusal } from './unary.ts';

interface AnswerEachDeps {
  /** Logs a failure, and returns what the client may know about it. */
  explain(thrown: unknown): unknown;
  /** Called for each request with its status. */
  onAnswer(code: status): void;
}

export function createAnswerEach({ explain, onAnswer }: AnswerEachDeps): AnswerEach {
  return (requests, schema, answer) =>
    Promise.all(
      requests.map(async (request) => {
        try {
          const answered = await answer(checkRequest(schema, request));
          onAnswer(status.OK);
          return answered;
        } catch (thrown) {
          const error = toRefusal(explain(thrown));
          onAnswer(GRPC_STATUS[error.code]);
          return { error };
        }
      }),
    );
}

/** The number of requests in an RPC: the length of the field `requests` of a batch, else one. */
export function requestsIn(message: unknown): number {
  const { requests } = message as { requests?: unknown };
  // A batch that is too large is refused as a whole.
  return Array.isArray(requests) ? Math.min(Math.max(requests.length, 1), MAX_BATCH_REQUESTS) : 1;
}

/** A refusal as clients read it: a later release may have further codes. */
export type WireRefusal = Omit<RequestRefusal, 'code'> & { code: string };

/** The error for a refused request of a batch or a stream. */
export function fromRefusal({ code, message, details, retryAfterSeconds }: WireRefusal): AppError {
  const known = Object.hasOwn(GRPC_STATUS, code) ? (code as ErrorCode) : 'internal';
  return new AppError(known, message, { details, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}

export function toRefusal(error: unknown): RequestRefusal {
  if (!(error instanceof AppError)) return { code: 'internal', message: SOMETHING_WENT_WRONG, details: [] };
  const { code, message, details = [], retryAfterSeconds } = error;
  return { code, message, details, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}
