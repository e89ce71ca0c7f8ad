import { postUntilAccepted, type PostAnswer, type Refusal } from './resend.ts';

const SENDERS = 4;

/**
 * Reports as an agent gateway does: batches wait in order, a few are in flight at a time, and each is sent again with
 * the same ids until it is accepted.
 */
export interface ReportingGateway<T> {
  /** What was passed to `report`. */
  readonly sent: readonly T[];
  /** What was accepted. */
  readonly accepted: readonly T[];
  /** Attempts that were not accepted. */
  readonly refusals: ReadonlyMap<Refusal, number>;
  /** Resolves once the batch is accepted; rejects after an unexpected answer. */
  report(batch: T[]): Promise<void>;
  /** Resolves once nothing waits or is in flight. */
  drained(): Promise<void>;
  /** Gives up batches that are not accepted yet. */
  close(): void;
}

interface Waiting<T> extends PromiseWithResolvers<void> {
  batch: T[];
}

export function createReportingGateway<T>(post: (batch: readonly T[]) => Promise<PostAnswer>): ReportingGateway<T> {
  const sent: T[] = [];
  const accepted: T[] = [];
  const refusals = new Map<Refusal, number>();
  const waiting: Waiting<T>[] = [];
  const senders = new Set<Promise<void>>();
  let closed = false;

  function refused(refusal: Refusal): void {
    refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
    if (closed) throw new Error('the gateway is closed');
  }

  async function send(batch: T[]): Promise<void> {
    if (closed) throw new Error('the gateway is closed');
    await postUntilAccepted(() => post(batch), refused);
    accepted.push(...batch);
  }

  async function sendWaiting(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await send(next.batch).then(next.resolve, next.reject);
    }
  }

  return {
    sent,
    accepted,
    refusals,
    report(batch) {
      const place = { batch, ...Promise.withResolvers<void>() };
      sent.push(...batch);
      waiting.push(place);
      if (senders.size < SENDERS) {
        const sender = sendWaiting().finally(() => senders.delete(sender));
        senders.add(sender);
      }
      return place.promise;
    },
    async drained() {
      while (senders.size > 0) await Promise.all(senders);
    },
    close() {
      closed = true;
    },
  };
}
