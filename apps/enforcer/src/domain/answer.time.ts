import { AppError } from '@tollkeeper/kernel';

/** Whoever asks has an answer within a second. What is under way when the time is over may still take effect. */
export const ANSWER_MS = 900;

/** Rejects with `service_unavailable` when the work takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const error = () =>
      new AppError('service_unavailable', 'This took too long. Ask again: what was done is not done twice.', {
        retryAfterSeconds: 1,
      });
    timer = setTimeout(() => reject(error()), ms);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
