import { AppError } from '@tollkeeper/kernel';

/**
 * A gateway gets an answer within a second, which includes the check of its key. Work that is still in progress then
 * may still take effect.
 */
export const GATEWAY_ANSWER_MS = 650;
/** Proxies wait a second, in which both ways count. */
export const PROXY_ANSWER_MS = 600;
/** A person would rather wait than read an error. */
export const PERSON_ANSWER_MS = 5_000;

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
