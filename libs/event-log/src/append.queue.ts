import { AppError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { type LogRecord, MissingTopic } from './event-log.ts';
import type { LogMetrics } from './log.metrics.ts';
import { sizeOf } from './log.records.ts';

/** Maximum bytes that wait for the storage. Further appends are refused. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Milliseconds that an append waits for its answer. Records in progress by then may still be stored. */
const APPEND_TIMEOUT_MS = 10_000;
/** Maximum bytes of one write, unless a single append has more. */
const MAX_WRITE_BYTES = 4 * 1024 * 1024;

interface WaitingAppend {
  records: readonly LogRecord[];
  bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

export interface AppendQueue {
  append(records: readonly LogRecord[]): Promise<void>;
  /** Resolves when no append is waiting. */
  drained(): Promise<void>;
}

/**
 * Group commit for one topic. Appends that arrive during a write share the next write, so many small appends cost
 * little more than one. Only one write runs at a time, which keeps the order per key.
 */
export function createAppendQueue(deps: {
  topic: string;
  /** Stores the records durably and in order; never called before the previous call has settled. */
  write(records: readonly LogRecord[]): Promise<void>;
  metrics: LogMetrics;
  logger: Logger;
}): AppendQueue {
  const { topic, metrics, logger } = deps;
  const waiting: WaitingAppend[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | undefined;

  function takeNext(): WaitingAppend[] {
    let bytes = 0;
    const over = waiting.findIndex((append) => (bytes += append.bytes) > MAX_WRITE_BYTES);
    const taken = waiting.splice(0, over === -1 ? waiting.length : Math.max(over, 1));
    waitingBytes -= bytesOf(taken);
    return taken;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const taken = takeNext();
      const records = taken.flatMap((append) => append.records);
      try {
        await deps.write(records);
        metrics.appended.inc({ topic }, records.length);
        for (const append of taken) append.resolve();
      } catch (err) {
        metrics.appendFailures.inc({ topic }, records.length);
        logger.error({ err, topic, records: records.length }, 'append to the event log failed');
        const error = toAppendError(err, 'The event log cannot store records right now. Try again shortly.');
        for (const append of taken) append.reject(error);
      }
    }
    writing = undefined;
  }

  /** Drops an append that still waits. An append in progress is kept, so that no later append can overtake it. */
  function giveUp(append: WaitingAppend): void {
    const place = waiting.indexOf(append);
    if (place !== -1) waitingBytes -= bytesOf(waiting.splice(place, 1));
    append.reject(unavailable('The event log did not answer in time. Try again shortly.', 5));
  }

  return {
    async append(records) {
      const bytes = records.reduce((total, record) => total + sizeOf(record), 0);
      if (waiting.length > 0 && waitingBytes + bytes > MAX_WAITING_BYTES) {
        throw unavailable('Too many records are waiting for the event log. Try again shortly.', 1);
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const append = { records, bytes, resolve, reject };
      waiting.push(append);
      waitingBytes += bytes;
      writing ??= writeAll();
      const timer = setTimeout(() => giveUp(append), APPEND_TIMEOUT_MS);
      await promise.finally(() => clearTimeout(timer));
    },
    drained: () => writing ?? Promise.resolve(),
  };
}

/** The error of a failed append. It names a missing topic; any other failure counts as a temporary outage. */
export function toAppendError(cause: unknown, message: string): Error {
  return cause instanceof MissingTopic ? cause : unavailable(message, 5, cause);
}

function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError('service_unavailable', message, { retryAfterSeconds, cause });
}

function bytesOf(appends: readonly WaitingAppend[]): number {
  return appends.reduce((total, { bytes }) => total + bytes, 0);
}
