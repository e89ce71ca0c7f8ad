import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions, ReadRecord, RecordBatch } from './event-log.ts';
import type { LogMetrics } from './log.metrics.ts';
import type { Standstills } from './standstill.ts';

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Reads one partition for one worker, which makes one call at a time. */
export interface PartitionSource {
  /** Moves to `position`, or to the earliest record of the log. Called at the start and after each failure. */
  open(position: number | null): Promise<void>;
  /** The next records, once there are any. Rejects if `signal` aborts, or if reading must start again with `open`. */
  next(signal: AbortSignal): Promise<FetchedRecords>;
}

interface FetchedRecords {
  /** At least one and at most `maxRecords`. There are no gaps, except where retention has removed records. */
  records: ReadRecord[];
  /** The partition's end as far as known. */
  endOffset: number;
}

/** Work on one assigned partition. */
export interface PartitionWork {
  /**
   * Stops the work. Resolves when none of it runs any more. Idempotent. `lost` means that another consumer may already
   * have the partition.
   */
  stop(options: { lost: boolean }): Promise<void>;
}

/** Reads one partition from the handler's position on and passes batches to the handler until stopped. */
export function startPartitionWork(deps: {
  consumer: ConsumerOptions;
  partition: number;
  source: PartitionSource;
  metrics: LogMetrics;
  /** Watches the partitions of the consumer. */
  standstills: Pick<Standstills, 'watch'>;
  logger: Logger;
  /** Settles when earlier work on the partition has ended. This work begins afterwards. */
  after?: Promise<void> | undefined;
}): PartitionWork {
  const { consumer, partition, source, metrics, logger } = deps;
  const { topic, group, handler, lingerMs = 0 } = consumer;
  const stopping = new AbortController();
  const { signal } = stopping;
  const progress = deps.standstills.watch(partition);
  let failures = 0;
  let lost = false;

  async function consume(): Promise<void> {
    progress.begins('position');
    let from = await handler.position(topic, partition);
    await handler.begins?.(topic, partition);
    progress.begins('open');
    await source.open(from);
    let lingersUntil = 0;
    for (;;) {
      progress.reads(from);
      const lingerLeftMs = lingersUntil - performance.now();
      if (lingerLeftMs > 0) await delay(lingerLeftMs, undefined, { signal });
      const { records, endOffset } = await source.next(signal);
      signal.throwIfAborted();
      const begunAt = performance.now();
      const nextOffset = (records.at(-1)?.offset ?? 0) + 1;
      await hand({ topic, partition, records, from, nextOffset, endOffset: Math.max(endOffset, nextOffset) });
      from = nextOffset;
      lingersUntil = nextOffset < endOffset ? 0 : begunAt + lingerMs;
    }
  }

  async function hand(batch: RecordBatch): Promise<void> {
    const stored = trackBatch(batch, { metrics, labels: { group, topic, partition }, logger }, (position) => {
      failures = 0;
      progress.got(position);
    });
    progress.hands(batch.records[0]?.offset ?? batch.nextOffset);
    await handler.handle(batch, stored);
    stored(batch.nextOffset);
  }

  async function run(): Promise<void> {
    await deps.after;
    while (!signal.aborted) {
      try {
        await consume();
      } catch (err) {
        if (signal.aborted) break;
        failures += 1;
        progress.failed(err);
        metrics.redeliveries.inc({ group, topic, partition });
        const longestMs = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** (failures - 1));
        const retryMs = randomInt(longestMs / 2, longestMs + 1);
        logger.warn(
          { err, failures, retry_ms: retryMs },
          'work on the partition failed; starting again from its position',
        );
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
    progress.ends();
    metrics.lag.remove({ group, topic, partition });
    await handler
      .released?.({ topic, partition, lost })
      .catch((err: unknown) => logger.warn({ err }, 'deferred records were not stored; they will be read again'));
  }

  const running = run();
  return {
    stop(options) {
      lost ||= options.lost;
      stopping.abort();
      return running;
    },
  };
}

interface BatchObserver {
  metrics: LogMetrics;
  labels: { group: string; topic: string; partition: number };
  logger: Logger;
}

/** Counts how much of the batch is stored, as its handler reports, and calls `onProgress` with each new position. */
function trackBatch(
  batch: RecordBatch,
  { metrics, labels, logger }: BatchObserver,
  onProgress: (position: number) => void,
): (position: number) => void {
  const { records, nextOffset } = batch;
  const first = records[0]?.offset ?? nextOffset;
  let reached = batch.from ?? first;
  let applied = 0;
  const setLag = (): void => metrics.lag.set(labels, batch.endOffset - nextOffset + records.length - applied);

  setLag();
  return (position) => {
    if (position <= reached) return;
    const before = applied;
    while (applied < records.length && records[applied]!.offset < position) applied += 1;
    onProgress(position);
    metrics.consumed.inc(labels, applied - before);
    setLag();
    // Records count as skipped once the position has moved past them: until then, they may still be found.
    const skipped = position - reached - (applied - before);
    reached = position;
    if (skipped <= 0) return;
    metrics.skipped.inc({ group: labels.group, topic: labels.topic }, skipped);
    const gap = { from_offset: batch.from, first_offset: first, next_offset: nextOffset, skipped };
    logger.error(gap, 'records are missing from the log and were skipped');
  };
}

/** A position beyond the end belongs to a log that was lost. The present log is read from its beginning. */
export function startOffset(position: number | null, end: number, logger: Logger): number {
  if (position === null || position <= end) return position ?? 0;
  logger.error(
    { offset: position, end_offset: end },
    'position is beyond the end of the log; reading the log from its beginning',
  );
  return 0;
}
