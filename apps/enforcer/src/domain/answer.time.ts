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

const REPEAT_MS = 100;

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Does work for a person, and repeats it while it is `service_unavailable`: peers are asked with the short deadlines of
 * gateways, which the first question after a start can miss. Rejects with its last error after `PERSON_ANSWER_MS`.
 */
export async function forPerson<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + PERSON_ANSWER_MS - GATEWAY_ANSWER_MS;
  const repeated = async (): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isTemporary = error instanceof AppError && error.code === 'service_unavailable';
        if (!isTemporary || performance.now() >= end) throw error;
        await delay(REPEAT_MS);
      }
    }
  };
  return within(PERSON_ANSWER_MS, repeated());
}

/** For how long reports that nobody waits for, and nobody repeats, are tried again. */
export const REPORT_MS = 10_000;

/** Whether work was refused only for now. */
export function isTemporary(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'service_unavailable' || error.code === 'rate_limited');
}

/** Does the work of a report, and repeats it until the deadline while it is refused only for now. */
export async function forReport<T>(deadline: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const waitMs = (error.retryAfterSeconds ?? 1) * 1_000;
      if (performance.now() + waitMs > deadline) throw error;
      await delay(waitMs);
    }
  }
}
