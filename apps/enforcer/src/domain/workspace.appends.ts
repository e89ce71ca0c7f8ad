import type { GatewayEventRecord } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';

/** An event with the key that asked for its call. */
export type ReportedEvent = Pick<GatewayEventRecord, 'event' | 'keyId'>;

/** Appends events to the log. Resolves when they are durable. */
export type AppendEvents = (tenantId: TenantId, events: readonly ReportedEvent[]) => Promise<void>;

/** Maximum number of events in one append. */
const MAX_EVENTS = 500;
/** From so many characters of JSON on, an append takes no further event. An event has 1 to 2 kB, with labels 13 kB. */
const FULL_LENGTH = 1_000_000;
/** Maximum number of pending events. Once half of those of all are pending, a workspace may have a tenth of them. */
export interface MaxPending {
  ofWorkspace: number;
  ofAll: number;
}

/** A queue per workspace, so that none waits for the append of another. */
export interface WorkspaceAppends {
  /** Resolves when the event is in the log. Rejects if the log does not take it or too many are pending. */
  append(tenantId: TenantId, event: ReportedEvent): Promise<void>;
  /** Resolves when nothing is pending. */
  drained(): Promise<void>;
}

interface Waiting {
  event: ReportedEvent;
  resolve(): void;
  reject(error: unknown): void;
}

/** A workspace has one append in progress. Events that arrive meanwhile go into its next one, in order. */
export function createWorkspaceAppends(append: AppendEvents, max: MaxPending): WorkspaceAppends {
  const queues = new Map<TenantId, { waiting: Waiting[]; pending: number; done: Promise<void> }>();
  let pendingOfAll = 0;

  async function work(tenantId: TenantId, queue: { waiting: Waiting[]; pending: number }): Promise<void> {
    while (queue.waiting.length > 0) {
      const taken = queue.waiting.splice(0, roomIn(queue.waiting));
      try {
        await append(
          tenantId,
          taken.map(({ event }) => event),
        );
        for (const { resolve } of taken) resolve();
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
      queue.pending -= taken.length;
      pendingOfAll -= taken.length;
    }
    queues.delete(tenantId);
  }

  return {
    append(tenantId, event) {
      let queue = queues.get(tenantId);
      const most = pendingOfAll < max.ofAll / 2 ? max.ofWorkspace : max.ofAll / 10;
      if (pendingOfAll >= max.ofAll || (queue !== undefined && queue.pending >= most)) {
        const message = 'Too many events are waiting for the event log. Try again shortly.';
        return Promise.reject(new AppError('service_unavailable', message, { retryAfterSeconds: 1 }));
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const added = { event, resolve, reject };
      pendingOfAll += 1;
      if (queue === undefined) {
        queue = { waiting: [added], pending: 1, done: Promise.resolve() };
        queues.set(tenantId, queue);
        queue.done = work(tenantId, queue);
      } else {
        queue.waiting.push(added);
        queue.pending += 1;
      }
      return promise;
    },
    async drained() {
      await Promise.all([...queues.values()].map(({ done }) => done));
    },
  };
}

/** How many of the events one append takes. */
function roomIn(waiting: readonly Waiting[]): number {
  let [count, length] = [0, 0];
  while (count < Math.min(waiting.length, MAX_EVENTS) && length < FULL_LENGTH) {
    length += JSON.stringify(waiting[count]!.event).length;
    count += 1;
  }
  return count;
}
