import { AppError } from '@tollkeeper/kernel';

/** A caller gets an answer within a second. Work that is still in progress then may still take effect. */
export const ANSWER_MS = 900;
/** The share of that for requests of a gateway, whose key is checked before. */
export const GATEWAY_ANSWER_MS = 650;

/** The answer to a request that took too long. */
export function tookTooLong(): AppError {
  return new AppError('service_unavailable', 'The request took too long. Repeat it: nothing is done twice.', {
    retryAfterSeconds: 1,
  });
}

/** Rejects with `service_unavailable` if the work takes longer. */
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
