import type { CloudEvent } from './events.ts';
import type { Target } from './target.ts';
import { postEvents } from './workspace.ts';

/** Answers after which the same batch is sent again. */
const NOT_NOW = new Set([429, 503, 504]);
/** Shorter than `Retry-After`, so that recovery times measure the fleet. */
const RETRY_PAUSE_MS = 200;
const SENDERS = 4;

/**
 * Reports events as an agent gateway does: batches wait in order, a few are in flight at a time, and each is sent again
 * with the same ids until it is accepted.
 */
export interface ReportingGateway {
  /** Events that were passed to `report`. */
  readonly sent: readonly CloudEvent[];
  /** Events that got a 202. */
  readonly accepted: readonly CloudEvent[];
  /** Attempts that were not accepted, by status; `unreachable` if the connection failed. */
  readonly refusals: ReadonlyMap<number | 'unreachable', number>;
  /** Resolves once the batch is accepted; rejects after an unexpected answer. */
  report(batch: CloudEvent[]): Promise<void>;
  /** Resolves once nothing waits or is in flight. */
  drained(): Promise<void>;
  /** Gives up batches that are not accepted yet. */
  close(): void;
}

interface Waiting extends PromiseWithResolvers<void> {
  batch: CloudEvent[];
}

export function createReportingGateway(target: Target, apiKey: string): ReportingGateway {
  const sent: CloudEvent[] = [];
  const accepted: CloudEvent[] = [];
  const refusals = new Map<number | 'unreachable', number>();
  const waiting: Waiting[] = [];
  const senders = new Set<Promise<void>>();
  let closed = false;

  async function send(batch: CloudEvent[]): Promise<void> {
    for (;;) {
      if (closed) throw new Error('the gateway is closed');
      const refusal = await attempt(batch);
      if (refusal === null) break;
      refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
    accepted.push(...batch);
  }

  /** Null for a 202. */
  async function attempt(batch: CloudEvent[]): Promise<number | 'unreachable' | null> {
    try {
      const { status, headers, text } = await postEvents(target, apiKey, batch);
      if (status === 202) return null;
      if (NOT_NOW.has(status) && Number(headers['retry-after']) > 0) return status;
      throw new Error(`events were answered ${status}, Retry-After ${headers['retry-after']}: ${text}`);
    } catch (error) {
      // Failed connections have a system error code; other errors have none.
      if ((error as NodeJS.ErrnoException).code !== undefined) return 'unreachable';
      throw error;
    }
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
