import type { CountRefusal } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import type { Area } from '../domain/area.ts';
import type { Ending } from './exchange.ts';

export interface InFlightLimit {
  /**
   * Counts a request of `sender` until its answer has ended. Throws `code` when the sender already has the maximum in
   * flight.
   */
  enter(sender: string, res: Ending, code?: Area['atLimit']): void;
}

/** Bounds the requests in flight per sender, so that none can use up shared capacity. */
export function createInFlightLimit(max: number, countRefusal: CountRefusal): InFlightLimit {
  const counts = new Map<string, number>();

  function leave(sender: string): void {
    const count = counts.get(sender) ?? 0;
    if (count > 1) counts.set(sender, count - 1);
    else counts.delete(sender);
  }

  return {
    enter(sender, res, code = 'rate_limited') {
      // The client has disconnected, so the answer will not emit `close` again.
      if (res.closed) return;
      const count = counts.get(sender) ?? 0;
      if (count >= max) {
        countRefusal('sender_limit');
        throw tooMany(max, code);
      }
      counts.set(sender, count + 1);
      res.once('close', () => leave(sender));
    },
  };
}

function tooMany(max: number, code: Area['atLimit']): AppError {
  const message = `You have reached the maximum of ${max} requests in flight. Wait for a response before sending more.`;
  return new AppError(code, message, { retryAfterSeconds: 1 });
}
