import { AppError } from '@tollkeeper/kernel';

/** A caller has an answer within a second. What is in progress when the time is over may still take effect. */
export const ANSWER_MS = 900;
/** A gateway's part of it. Its key is checked before. */
export const GATEWAY_ANSWER_MS = 650;

/** The answer of a request that nobody waits for any more. */
export function tookTooLong(): AppError {
  return new AppError('service_unavailable', 'This took too long. Ask again: what was done is not done twice.', {
    retryAfterSeconds: 1,
  });
}

/** Rejects with `service_unavailable` when the work takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tookTooLong()), ms);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
