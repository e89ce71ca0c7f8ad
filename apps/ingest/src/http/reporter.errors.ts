import type { Authenticator } from '@tollkeeper/http';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';

/** Answers that make a sender of telemetry send the same body again. It drops the body after any other error. */
export interface ReporterErrors {
  /** Resolves like `work`. Rejects with errors that this kind of sender understands, within 5 seconds. */
  answer<T>(work: () => Promise<T>): Promise<T>;
  /** The same for work that does not wait. */
  answerNow<T>(work: () => T): T;
  /** The same for the check of a key. */
  access<C>(authenticator: Authenticator<C>): Authenticator<C>;
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
  const reporter: ReporterErrors = {
    async answer(work) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        const message = 'The calls could not be stored in time. Send the same body again.';
        timer = setTimeout(
          () => reject(new AppError('service_unavailable', message, { retryAfterSeconds: 2 })),
          ANSWER_WITHIN_MS,
        );
      });
      try {
        return await Promise.race([work(), late]);
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
      authenticate: (request) => reporter.answer(() => authenticator.authenticate(request)),
    }),
  };
  return reporter;
}
