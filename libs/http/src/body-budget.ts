import { AppError } from '@tollkeeper/kernel';
import type { Request } from 'express';

/** Bounds the memory that the bodies of all requests under way take together. */
export interface BodyBudget {
  /**
   * Takes the size of the request's body, `limitBytes` where that is not known before it is read, and returns what
   * gives it back. Throws `service_unavailable` when the budget is used up.
   */
  take(req: Request, limitBytes: number): () => void;
}

export function createBodyBudget(budgetBytes: number): BodyBudget {
  let takenBytes = 0;

  return {
    take(req, limitBytes) {
      const bytes = Math.min(declaredBytes(req) ?? limitBytes, limitBytes);
      // One body is always let in, so that a budget under a route's limit slows requests down and stops none for good.
      if (takenBytes > 0 && takenBytes + bytes > budgetBytes) {
        const message = 'Too many requests are under way at the moment. Try again shortly.';
        throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
      }
      takenBytes += bytes;
      return () => {
        takenBytes -= bytes;
      };
    },
  };
}

/** Size of the body in memory where the headers tell it: not for a compressed one, nor for one sent in chunks. */
function declaredBytes({ headers }: Request): number | undefined {
  const encoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (encoded || headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}
