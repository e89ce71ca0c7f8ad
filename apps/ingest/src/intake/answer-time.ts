import { AppError } from '@tollkeeper/kernel';

/**
 * Exporters wait 10 seconds for the upload and the answer together, lose the body then, and do not send it again. The
 * edge waits 5 seconds.
 */
const ANSWER_WITHIN_MS = 4_500;

/**
 * Resolves like `work`. Rejects with `service_unavailable` when the time for an answer is over, of which the check of
 * the key took `spentMs`; then `signal` is aborted, and the work may still take effect.
 */
export async function answerInTime<T>(spentMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => {
      const message = 'The body could not be stored in the event log in time. Send the same body again.';
      const reason = new AppError('service_unavailable', message, { retryAfterSeconds: 2 });
      late.abort(reason);
      reject(reason);
    },
    Math.max(ANSWER_WITHIN_MS - spentMs, 0),
  );
  try {
    return await Promise.race([work(late.signal), promise]);
  } finally {
    clearTimeout(timer);
  }
}
