import type { PostEventsData, PostEventsResponse } from './gen/types.gen.ts';
import { pause, requireTimes, type Send, withField } from './http.transport.ts';
import { type Lot, LotQueue, MAX_EVENTS, toLots } from './lot.queue.ts';
import { TollkeeperError, TollkeeperUnavailable } from './tollkeeper.error.ts';

/** An event as it is sent. */
export type GatewayEvent = Exclude<PostEventsData['body'], unknown[]>;

type FilledIn = 'specversion' | 'id' | 'source' | 'time';
type Report<E> = E extends GatewayEvent ? Omit<E, FilledIn> & Partial<Pick<E, FilledIn>> : never;
/** An event as passed to `report`: missing ids, sources and times are added once, before it is sent. */
export type ReportedEvent = Report<GatewayEvent>;

export interface ReporterOptions {
  /** How long the first event waits for others. */
  lingerMs: number;
  /** Most events that wait or are in flight. */
  maxQueued: number;
  /** From a report until its events are accepted. */
  timeoutMs: number;
}

export interface EventReporter {
  report(events: ReportedEvent | ReportedEvent[], options?: { signal?: AbortSignal | undefined }): Promise<void>;
  flush(): Promise<void>;
  close(options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** Events that wait or are in flight take at most about twice this memory. */
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;
/** When a lot's time is over, lots whose time ends this soon after are given up too. */
const SOON_MS = 1_000;

export function createEventReporter(send: Send, ownSource: string, options: ReporterOptions): EventReporter {
  const { lingerMs, maxQueued, timeoutMs } = options;
  requireTimes({ 'reporting.lingerMs': lingerMs, 'reporting.timeoutMs': timeoutMs });
  const queue = new LotQueue();
  const givenUp = new AbortController();
  let closed = false;
  let sending = false;
  let linger = new AbortController();

  /** One batch is in flight at a time; events that arrive meanwhile form the next one. */
  async function sendWaiting(): Promise<void> {
    if (sending) return;
    sending = true;
    linger = new AbortController();
    await pause(lingerMs, linger.signal).catch(() => undefined);
    while (!queue.isEmpty) await post(queue.takeBatch());
    sending = false;
  }

  async function post(batch: Lot[]): Promise<void> {
    // Lots aborted in flight are not sent again after a refused or unanswered batch.
    const lots = batch.filter(({ signal }) => !signal?.aborted);
    if (lots.length === 0) return;
    const body = `[${lots.flatMap(({ events }) => events).join()}]`;
    const contentType = 'application/cloudevents-batch+json';
    // The first lot has waited longest.
    const deadline = lots[0]!.deadline;
    const request = { method: 'POST', path: '/api/v1/events', body, contentType } as const;
    const timing = { timeoutMs: Math.max(deadline - performance.now(), 0), signal: givenUp.signal };
    try {
      withField<PostEventsResponse>(await send({ ...request, ...timing, repeatable: true, patient: true }), 'accepted');
      for (const lot of lots) lot.resolve();
    } catch (error) {
      const refused = error instanceof TollkeeperError && (error.status === 400 || error.status === 413);
      if (refused && lots.length > 1) {
        // A batch is accepted as a whole or not at all. Halving it keeps one invalid report from affecting the others.
        const half = lots.length >> 1;
        await post(lots.slice(0, half));
        await post(lots.slice(half));
        return;
      }
      const isAway = error instanceof TollkeeperUnavailable && !givenUp.signal.aborted;
      // Tollkeeper is down, and the time of the first lot is over. Other lots have their own deadlines.
      const others = isAway ? lots.filter((lot) => lot.deadline > deadline + SOON_MS) : [];
      for (const lot of lots) if (!others.includes(lot)) lot.reject(error);
      queue.putBack(others);
    }
  }

  async function flush(): Promise<void> {
    linger.abort();
    await queue.settled();
  }

  return {
    async report(events, { signal } = {}) {
      const now = new Date().toISOString();
      const write = ({ id = crypto.randomUUID(), source = ownSource, time = now, ...event }: ReportedEvent) =>
        JSON.stringify({ specversion: '1.0', ...event, id, source, time });
      // Serialized now, so that later changes by the caller do not affect retries.
      const written = [events].flat().map(write);
      const lots = toLots(written);
      const bytes = lots.reduce((sum, lot) => sum + lot.bytes, 0);
      const count = written.length;
      signal?.throwIfAborted();
      if (closed) throw new TollkeeperError('The client is closed', { code: 'closed' });
      if (queue.events + count > maxQueued || queue.bytes + bytes > MAX_QUEUED_BYTES) {
        const most = `at most ${maxQueued} events of ${MAX_QUEUED_BYTES} bytes may`;
        const message = `${queue.events} events of ${queue.bytes} bytes are already waiting, and ${most}: none of these ${count} was accepted`;
        throw new TollkeeperError(message, { code: 'queue_full' });
      }
      const deadline = performance.now() + timeoutMs;
      const accepted = Promise.all(lots.map((lot) => queue.add(lot, deadline, signal)));
      void sendWaiting();
      if (queue.events >= MAX_EVENTS) linger.abort();
      await accepted;
    },
    flush,
    async close({ signal } = {}) {
      closed = true;
      const giveUp = () => givenUp.abort(signal?.reason);
      if (signal?.aborted) giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      await flush();
      signal?.removeEventListener('abort', giveUp);
    },
  };
}
