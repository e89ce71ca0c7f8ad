import { AppError } from '@tollkeeper/kernel';

/** Bounds the memory that the bodies of all requests under way take together. */
export interface BodyBudget {
  /** Opens the account of one request, with nothing on it. */
  open(): BodyShare;
}

/** What one request holds of a {@link BodyBudget}. */
export interface BodyShare {
  /** Takes room for bytes that have arrived. Throws `service_unavailable` when the budget is used up. */
  take(bytes: number): void;
  /** Gives back all that was taken. */
  giveBack(): void;
}

/**
 * Only what has arrived counts: were the announced size taken ahead, a few senders of one byte each would keep everybody
 * else out.
 */
export function createBodyBudget(budgetBytes: number): BodyBudget {
  let takenBytes = 0;

  return {
    open() {
      let ownBytes = 0;
      return {
        take(bytes) {
          // A body that is alone is always let in, so that a budget under a route's limit slows requests down and stops
          // none for good.
          if (takenBytes > ownBytes && takenBytes + bytes > budgetBytes) {
            const message = 'Too many requests are under way at the moment. Try again shortly.';
            throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
          }
          takenBytes += bytes;
          ownBytes += bytes;
        },
        giveBack() {
          takenBytes -= ownBytes;
          ownBytes = 0;
        },
      };
    },
  };
}
