import type { Authenticator } from '@tollkeeper/http';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';

/** Answers that make a sender of telemetry send the same body again. It drops the body after any other error. */
export interface ReporterErrors {
  /**
   * Resolves like `work`. Rejects with errors that this kind of sender understands, and after 5 seconds; then `signal`
   * is aborted.
   */
  answer<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** The same for work that does not wait. */
  answerNow<T>(work: () => T): T;
  /** The same for the check of a key, which has a deadline of its own. */
  access<C>(authenticator: Authenticator<C>): Authenticator<C>;
  /** The error that such a sender gets instead of `thrown`. */
  toAnswer(thrown: unknown): AppError;
}

/** Exporters give up after 10 seconds without an answer, and do not try again then. */
const ANSWER_WITHIN_MS = 5_000;

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
    async answer(work) {
      const late = new AbortController();
      const { promise, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        const message = 'The calls could not be stored in time. Send the same body again.';
        const reason = new AppError('service_unavailable', message, { retryAfterSeconds: 2 });
        late.abort(reason);
        reject(reason);
      }, ANSWER_WITHIN_MS);
      try {
        return await Promise.race([work(late.signal), promise]);
      } catch (error) {
        throw toAnswer(error);
      } finally {
        clearTimeout(timer);
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
