import type { Authenticator } from '@tollkeeper/http';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';
import { answerInTime } from './answer-time.ts';

/** Answers that make a sender of telemetry send the same body again. It drops the body after any other error. */
export interface ReporterErrors {
  /** As `answerInTime`, with errors that this kind of sender understands. */
  answer: typeof answerInTime;
  /** The same for work that does not wait. */
  answerNow<T>(work: () => T): T;
  /** The same for the check of a key, which has a deadline of its own. */
  access<C>(authenticator: Authenticator<C>): Authenticator<C>;
  /** The error that such a sender gets instead of `thrown`. */
  toAnswer(thrown: unknown): AppError;
}

/**
 * Exporters of OTLP send again after 429 and 503. LiteLLM sends again only after 5xx, so its answer over a quota is 503
 * (`overQuota`). Neither does after 500: an unexpected error is 503 too.
 */
export function createReporterErrors({ overQuota }: { overQuota: ErrorCode }): ReporterErrors {
  const toAnswer = (error: unknown): AppError => {
    if (!(error instanceof AppError) || error.code === 'internal') {
      const message = 'Something went wrong on our side. Send the same body again.';
      return new AppError('service_unavailable', message, { retryAfterSeconds: 5, cause: error });
    }
    if (error.code !== 'rate_limited' || overQuota === 'rate_limited') return error;
    return new AppError(overQuota, error.message, { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  };
  return {
    toAnswer,
    async answer(spentMs, work) {
      try {
        return await answerInTime(spentMs, work);
      } catch (error) {
        throw toAnswer(error);
      }
    },
    answerNow(work) {
      try {
        return work();
      } catch (error) {
        throw toAnswer(error);
      }
    },
    access: (authenticator) => ({
      ...authenticator,
      async authenticate(request) {
        try {
          return await authenticator.authenticate(request);
        } catch (error) {
          throw toAnswer(error);
        }
      },
    }),
  };
}
