import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions, RecordBatch } from '../event-log.ts';
import type { EndOffsets } from './end-offsets.ts';
import type { PartitionWork } from './group.membership.ts';
import type { LogMetrics } from './log.metrics.ts';
import type { LogStore } from './log.store.ts';
import { createPartitionReader } from './partition.reader.ts';

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Reads one partition from the handler's position on and hands it the batches, until stopped. */
export function startPartitionWork(deps: {
  consumer: ConsumerOptions;
  partition: number;
  store: LogStore;
  ends: EndOffsets;
  metrics: LogMetrics;
  logger: Logger;
}): PartitionWork {
  const { consumer, partition, ends, metrics } = deps;
  const { topic, group, handler } = consumer;
  const logger = deps.logger.child({ topic, group, partition });
  const stopping = new AbortController();
  const { signal } = stopping;
  let failures = 0;

  async function consume(): Promise<void> {
    const read = createPartitionReader(deps.store, topic, partition, consumer.maxRecords);
    let from = await handler.position(topic, partition);
    let offset = await startOffset(from);
    for (;;) {
      const endOffset = await ends.beyond(partition, offset, signal);
      const records = await read(offset);
      signal.throwIfAborted();
      const last = records.at(-1);
      if (last === undefined) {
        // Retention has removed all that stood before this end.
        offset = endOffset;
        continue;
      }
      const nextOffset = last.offset + 1;
      await hand({ topic, partition, records, from, nextOffset, endOffset: Math.max(endOffset, nextOffset) });
      from = nextOffset;
      offset = nextOffset;
    }
  }

  /** A position beyond the end belongs to a log that was lost: the one that is there is read from its beginning. */
  async function startOffset(position: number | null): Promise<number> {
    const end = (await ends.settle())[partition] ?? 0;
    if (position === null || position <= end) return position ?? 0;
    logger.error({ position, end }, 'position is beyond the end of the log; reading the log from its beginning');
    return 0;
  }

  async function hand(batch: RecordBatch): Promise<void> {
    const behind = batch.endOffset - batch.nextOffset;
    metrics.lag.set({ group, topic, partition }, behind + batch.records.length);
    try {
      await handler.handle(batch);
    } catch (error) {
      metrics.redeliveries.inc({ group, topic });
      throw error;
    }
    failures = 0;
    metrics.consumed.inc({ group, topic }, batch.records.length);
    metrics.lag.set({ group, topic, partition }, behind);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await consume();
      } catch (err) {
        if (signal.aborted) break;
        failures += 1;
        const longestMs = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** (failures - 1));
        const retryMs = randomInt(longestMs / 2, longestMs + 1);
        logger.warn({ err, failures, retryMs }, 'batch was not applied; delivering it again');
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
    metrics.lag.remove({ group, topic, partition });
  }

  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}
